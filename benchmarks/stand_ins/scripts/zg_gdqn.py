"""A game of Atari: grey pictures of noise, episodes of some steps."""

import types

import made_up_data  # noqa: F401
import modules
import numpy

_chance = numpy.random.default_rng(0)


class Box:
    def __init__(self, shape, **_):
        self.shape = tuple(int(one) for one in shape)

    def sample(self):
        return _chance.integers(0, 256, self.shape).astype("uint8")


class Four:
    n = 4

    def sample(self):
        return int(_chance.integers(4))

    def seed(self, _):
        pass


class Wrapper:
    def __init__(self, env):
        self.env, self.observation_space = env, env.observation_space


class Atari:
    def __init__(self, _):
        self.observation_space = Box((84, 84, 1))


class Monitor(Wrapper):
    def __init__(self, env, *_, **__):
        super().__init__(env)
        self.action_space = Four()
        self._total, self._rewards, self._lengths = 0, [], []
        self._now = [0.0, 0]

    def reset(self):
        self._now = [0.0, 0]
        return self.observation_space.sample()

    def step(self, _):
        reward = float(_chance.integers(-1, 2))
        self._total += 1
        self._now = [self._now[0] + reward, self._now[1] + 1]
        ended = self._now[1] >= 11 + len(self._lengths) % 5
        if ended:
            self._rewards.append(self._now[0])
            self._lengths.append(self._now[1])
        return self.observation_space.sample(), reward, ended, {}

    def seed(self, _):
        pass

    def get_total_steps(self):
        return self._total

    def get_episode_rewards(self):
        return self._rewards

    def get_episode_lengths(self):
        return self._lengths


_head = types.SimpleNamespace(object=types.SimpleNamespace(hexsha="0"))
modules.put("git", Repo=lambda **_: types.SimpleNamespace(head=_head))
modules.put("psutil", virtual_memory=lambda: types.SimpleNamespace(available=1 << 34))
modules.put("gym", ObservationWrapper=Wrapper, make=lambda _: None)
modules.put("gym.spaces", Box=Box)
modules.put("gym.wrappers", Monitor=Monitor)
modules.put("stable_baselines3.common.atari_wrappers", AtariWrapper=Atari)
