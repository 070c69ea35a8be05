// SPDX-License-Identifier: Apache-2.0

// A target has a source file; all of this one is in its header, to be inlined.
#include "CCacheHints.h"
