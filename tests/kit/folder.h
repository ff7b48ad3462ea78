/* SPDX-License-Identifier: GPL-3.0-or-later */
/* folder.h - the folders that tests make for themselves, and files in them.
 * What fails ends the program. */
#ifndef ROTARY_KIT_FOLDER_H
#define ROTARY_KIT_FOLDER_H

/* A file in the folder that holds words. */
void folder_write(const char *folder, const char *name, const char *words);
/* The folder and all that is in it; links are not followed. */
void folder_remove(const char *folder);

#endif
