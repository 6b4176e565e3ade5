#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints a text file as the lines of one C string.
exec sed -e 's/["\\]/\\&/g' -e 's/.*/"&\\n"/' "$1"
