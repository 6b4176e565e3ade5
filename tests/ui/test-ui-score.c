/* SPDX-License-Identifier: MIT */
/* The score in a window: its rows, brackets, gaps, verdict cards, and how fast it follows. */
#include <gtk/gtk.h>
int main (void) { return 0; }
