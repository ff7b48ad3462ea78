/* SPDX-License-Identifier: GPL-3.0-or-later */
/* name.h - file names that are not fit for a line of the protocol, and the
 * form in which clients see them.
 *
 * A name that is valid UTF-8 without control characters goes out as it is,
 * '%' included. Any other goes out with each byte that is not valid UTF-8, each
 * control character and each '%' as %XX (capital hex digits): "caf\xe9 100%" is
 * "caf%E9 100%25". So a part of a URI is such a form exactly when it decodes to
 * a name that would be written like that; "100%25" is not, and stays itself.
 * The one doubt that is left, a file whose plain name looks like such a form,
 * is settled by whoever opens it: the plain name is tried first.
 * Threads: any; pure but for memory. */
#ifndef ROTARY_SOURCE_NAME_H
#define ROTARY_SOURCE_NAME_H

#include "lib/base/attr.h"

#include <stdbool.h>

struct text;

/* Adds a name, or several with '/' between them, in the form for clients. */
void name_add_outside(struct text *text, const char *name);
/* Adds the bytes that a URI stands for, part by part. False when that is the
 * URI itself. */
bool name_add_inside(struct text *text, const char *uri);

#endif
