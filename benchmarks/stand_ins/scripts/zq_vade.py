"""A pretrained model, and an assignment that scikit-learn had."""

import argparse

import made_up_data  # noqa: F401
import modules
import numpy
import scipy.optimize
import sklearn.utils


def _assign(costs):
    return numpy.array(scipy.optimize.linear_sum_assignment(costs)).T


def _change(module):
    import torch

    model = module.VaDE(argparse.Namespace(nClusters=10, hid_dim=10))
    torch.save(model.state_dict(), "pretrain_model.pk")


sklearn.utils.linear_assignment_ = modules.put("sklearn.utils.linear_assignment_", linear_assignment=_assign)
modules.when_imported("model", _change)
