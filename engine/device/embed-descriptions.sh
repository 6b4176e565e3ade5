#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints each file as an element of a C array: its name without folder and suffix, then its text.
for file; do
  printf '{"%s",\n' "$(basename "$file" .json)"
  sed -e 's/["\\]/\\&/g' -e 's/.*/"&\\n"/' "$file"
  printf '},\n'
done
