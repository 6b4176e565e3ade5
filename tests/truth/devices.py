# SPDX-License-Identifier: MIT
"""The devices that a comparison runs on."""
import argparse
import json
import subprocess


def choose(lig, description):
    """Returns those of --device, or else the CPU and the first GPU that `lig` finds."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--device", help="devices, joined by commas [default: cpu, and cuda:0 where "
                                          "there is one]")
    chosen = options.parse_args().device
    if chosen:
        return chosen.split(",")
    text = subprocess.run([lig, "devices", "--json"], check=True, text=True,
                          capture_output=True).stdout
    return ["cpu"] + [one["device"] for one in json.loads(text) if one["device"] == "cuda:0"]
