# SPDX-License-Identifier: Apache-2.0
# Copyright the Weft authors
"""Makes the wheel of the package, by the standard library alone (PEP 517; the file format is PEP 427)."""

import base64
import hashlib
import pathlib
import re
import zipfile

HERE = pathlib.Path(__file__).resolve().parent


def _field(name):
    """A text of the table [project] in pyproject.toml."""
    found = re.search(rf'^{name} = "(.*)"$', (HERE / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise RuntimeError(f"pyproject.toml: [project] has no text '{name}'")
    return found.group(1)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name, version = _field("name"), _field("version")
    info = f"{name}-{version}.dist-info"
    files = {f"{name}/{path.name}": path.read_bytes() for path in sorted((HERE / name).glob("*.py"))}
    files[f"{info}/METADATA"] = (f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
                                 f"Summary: {_field('description')}\nLicense: Apache-2.0\n"
                                 f"Requires-Python: {_field('requires-python')}\n"
                                 'Provides-Extra: frames\nRequires-Dist: pandas; extra == "frames"\n').encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: weft\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = ""
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    wheel = f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            archive.writestr(zipfile.ZipInfo(path), data)
    return wheel


def get_requires_for_build_wheel(config_settings=None):
    return []
