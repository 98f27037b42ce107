"""Pictures of four kinds, small crops, networks without learned weights."""

from pathlib import Path

import modules
import pictures


def _data_set(module):
    import torch

    class Birds(torch.utils.data.Dataset):
        def __init__(self, root, train=False, transform=None, download=False, **_):
            self._data, labels = pictures.noise(36 if train else 14, (40, 40, 3), 4, 1 + train)
            self.class_to_idx = {str(number): number for number in range(4)}
            self.imgs = self.samples = [("", label) for label in labels]
            self.transform = transform

        def __len__(self):
            return len(self.imgs)

        def __getitem__(self, index):
            from PIL import Image

            return self.transform(Image.fromarray(self._data[index])), self.imgs[index][1]

    module.CUB2011Metric = Birds


def _change_transforms(module):
    for name in ("RandomCrop", "CenterCrop", "Resize"):
        before = getattr(module, name)
        setattr(module, name, lambda size, before=before: before(32 if size == 224 else (40, 40)))


def _change_models(module):
    before = module.resnet18
    module.resnet18 = lambda pretrained=False: before(weights=None)


def _change_embedding(module):
    import torch

    if not Path("teacher.pth").exists():
        import model.backbone as backbone

        base = backbone.ResNet18(pretrained=False)
        teacher = module.LinearEmbedding(base, output_size=512, embedding_size=8, normalize=True)
        torch.save(teacher.state_dict(), "teacher.pth")


modules.put("h5py")
modules.when_imported("dataset", _data_set)
modules.when_imported("torchvision.transforms", _change_transforms)
modules.when_imported("torchvision.models", _change_models)
modules.when_imported("model.embedding", _change_embedding)
