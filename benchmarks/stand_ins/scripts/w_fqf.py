"""A game of pictures of noise by its shape, in place of an emulator, and a smaller configuration."""

import sys
import types
from pathlib import Path

import games


class Actions:
    n = 4

    def sample(self):
        return int(games._NOISE.integers(0, 4))


class Game(games.Game):
    def __init__(self):
        super().__init__()
        self.action_space = Actions()
        self.observation_space = types.SimpleNamespace(shape=(4, 84, 84))

    def reset(self):
        super().reset()
        return games._NOISE.integers(0, 255, (4, 84, 84)).astype("uint8")

    def step(self, action):
        _, reward, done, info = super().step(action)
        return games._NOISE.integers(0, 255, (4, 84, 84)).astype("uint8"), reward, done, info

    def close(self):
        pass


_env = types.ModuleType("fqf_iqn_qrdqn.env")
_env.make_pytorch_env = lambda *_, **__: Game()
sys.modules["fqf_iqn_qrdqn.env"] = _env
Path("made").mkdir(exist_ok=True)
Path("made/small.yaml").write_text("""num_steps: 44
batch_size: 4
N: 8
num_cosines: 8
ent_coef: 0
kappa: 1.0
quantile_lr: 5.e-5
fraction_lr: 2.5e-9
memory_size: 60
gamma: 0.99
multi_step: 1
update_interval: 2
target_update_interval: 10
start_steps: 12
epsilon_train: 0.01
epsilon_eval: 0.001
epsilon_decay_steps: 20
double_q_learning: False
dueling_net: False
noisy_net: False
use_per: False
log_interval: 5
eval_interval: 20
num_eval_steps: 10
max_episode_steps: 30
grad_cliping:
""")
