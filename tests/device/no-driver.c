/* SPDX-License-Identifier: MIT */
/* A driver without functions, libcuda.so.1: the module is loaded, and finds no GPU. */
extern const int lig_no_driver;
const int lig_no_driver = 0;
