"""The sizes of gymnasium's window and of the picture that it is shrunk to. The literals are gymnasium's."""

WINDOW_W, WINDOW_H = 1000, 800  # WINDOW_W and WINDOW_H
SIDE = 96  # STATE_W and STATE_H: rows and columns of the picture
PANEL_LINES = 100  # of the window, at its bottom, are the indicator panel's: 5 of 40 parts of its height
VIEW_ROWS = 84  # of the picture, above the panel: 96 * 700 / 800, so that no row shows both
