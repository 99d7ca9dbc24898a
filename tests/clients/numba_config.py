"""A plug-in of pytest with what numba-cuda's tests have from a conftest.py that its wheel leaves out. And their modules get the names that
users import them by, which other processes that tests start look for; pytest makes up one from the folders that have an __init__.py."""
import importlib

import pytest
from _pytest.python import Module


@pytest.fixture
def initialize_from_pytest_config(request):
    request.instance._dump_failed_filechecks = False


class _NamedModule(Module):
    def _getobj(self):
        parts = self.path.with_suffix("").parts
        at = len(parts) - parts[::-1].index("numba") - 1
        return importlib.import_module(".".join(parts[at:]))


def pytest_pycollect_makemodule(module_path, parent):
    return _NamedModule.from_parent(parent, path=module_path)
