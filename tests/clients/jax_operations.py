"""JAX on device `cuda`: a jitted function against NumPy."""
import jax
import jax.numpy as jnp
import numpy as np

from checks import check

x = np.random.default_rng(0).random(1000, np.float32)


def there():
    return jax.device_put(x, jax.devices("cuda")[0])


def a_jitted_function():
    got = jax.jit(lambda a: 3 * a + jnp.sin(a))(there())
    return None if np.allclose(got, 3 * x + np.sin(x), rtol=1e-5) else "wrong"


def a_sum():
    got = jax.jit(jnp.sum)(there())
    return None if np.isclose(got, x.sum(), rtol=1e-4) else f"{got}, not {x.sum()}"


def a_gradient():
    got = jax.grad(lambda a: jnp.sum(jnp.tanh(a)))(there())
    return None if np.allclose(got, 1 - np.tanh(x)**2, rtol=1e-4) else "wrong"


for test in a_jitted_function, a_sum, a_gradient:
    check(test.__name__, test)
