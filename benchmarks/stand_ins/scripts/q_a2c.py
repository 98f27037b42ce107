"""Two games at once by their shapes, and what stable_baselines3 and gym have to wrap them."""

import games
import modules
import numpy


class Box(games.Box):
    def __init__(self, low=None, high=None, shape=None, dtype=None):
        super().__init__(5 if shape is None else shape[0])
        self.dtype = numpy.float32


class Wrapper:
    def __init__(self, env=None):
        self.env = env

    def __getattr__(self, name):
        return getattr(self.env, name)


class _Game(games.Game):
    def __init__(self):
        super().__init__()
        self.observation_space, self.action_space = Box(shape=(5,)), Box(shape=(2,))
        self._reward = 0.0

    @property
    def unwrapped(self):
        return self

    def step(self, action):
        state, reward, done, info = super().step(action)
        self._reward += reward
        if done:
            info["episode"] = {"r": self._reward}
            self._reward = 0.0
        return state, reward, done, info


class Several:
    def __init__(self, makers):
        self.envs = [make() for make in makers]
        self.num_envs = len(self.envs)
        self.observation_space, self.action_space = self.envs[0].observation_space, self.envs[0].action_space

    def reset(self):
        return numpy.stack([env.reset() for env in self.envs])

    def step_async(self, actions):
        self._actions = actions

    def step_wait(self):
        states, rewards, ends, infos = [], [], [], []
        for env, action in zip(self.envs, self._actions, strict=True):
            state, reward, done, info = env.step(action)
            states.append(env.reset() if done else state)
            rewards.append(reward)
            ends.append(done)
            infos.append(info)
        return numpy.stack(states), numpy.asarray(rewards), numpy.asarray(ends), infos

    def step(self, actions):
        self.step_async(actions)
        return self.step_wait()

    def close(self):
        pass


class VecEnvWrapper(Several):
    def __init__(self, venv, observation_space=None):
        self.venv, self.num_envs = venv, venv.num_envs
        self.observation_space, self.action_space = observation_space or venv.observation_space, venv.action_space

    def step_async(self, actions):
        self.venv.step_async(actions)


class VecNormalize(VecEnvWrapper):
    def __init__(self, venv, gamma=0.99, norm_reward=True):
        super().__init__(venv)
        self.obs_rms = None

    def reset(self):
        return self.venv.reset()

    def step_wait(self):
        return self.venv.step_wait()


modules.put("gym", make=lambda *_, **__: _Game(), Wrapper=Wrapper, ObservationWrapper=Wrapper)
modules.put("gym.spaces.box", Box=Box)
modules.put("gym.spaces", Box=Box)
modules.put("gym.wrappers.clip_action", ClipAction=Wrapper)
modules.put("gym.envs").__dict__.pop("__getattr__", None)
modules.put("stable_baselines3.common.atari_wrappers")
modules.put("stable_baselines3.common.monitor", Monitor=lambda env, *_, **__: env)
modules.put(
    "stable_baselines3.common.vec_env", DummyVecEnv=Several, SubprocVecEnv=Several, VecEnvWrapper=VecEnvWrapper
)
modules.put("stable_baselines3.common.vec_env.vec_normalize", VecNormalize=VecNormalize)
modules.put("stable_baselines3.common.running_mean_std")
modules.put("h5py")
