"""Run every study, one after the other; each resumes where it was interrupted."""

import subprocess
import sys

STUDIES = ("calibration", "reproduction")

for study in STUDIES:
    subprocess.run([sys.executable, "-m", f"studies.{study}"], check=True)
