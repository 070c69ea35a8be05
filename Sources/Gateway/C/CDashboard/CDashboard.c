// SPDX-License-Identifier: Apache-2.0

#include "CDashboard.h"

// `#embed` is part of C23. Clang supports it in every dialect, with this warning.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const uint8_t document[] = {
#embed "Page/dashboard.html"
};
static const uint8_t style[] = {
#embed "Page/dashboard.css"
};
static const uint8_t elements[] = {
#embed "Page/elements.js"
};
static const uint8_t words[] = {
#embed "Page/words.js"
};
static const uint8_t gateway[] = {
#embed "Page/gateway.js"
};
static const uint8_t events[] = {
#embed "Page/events.js"
};
static const uint8_t figures[] = {
#embed "Page/figures.js"
};
static const uint8_t charts[] = {
#embed "Page/charts.js"
};
static const uint8_t overview[] = {
#embed "Page/overview.js"
};
static const uint8_t rejections[] = {
#embed "Page/rejections.js"
};
static const uint8_t timeline[] = {
#embed "Page/timeline.js"
};
static const uint8_t lookup[] = {
#embed "Page/lookup.js"
};
static const uint8_t dashboard[] = {
#embed "Page/dashboard.js"
};

static const CDashboardFile files[] = {
    {"dashboard.html", document, sizeof document},
    {"dashboard.css", style, sizeof style},
    {"elements.js", elements, sizeof elements},
    {"words.js", words, sizeof words},
    {"gateway.js", gateway, sizeof gateway},
    {"events.js", events, sizeof events},
    {"figures.js", figures, sizeof figures},
    {"charts.js", charts, sizeof charts},
    {"overview.js", overview, sizeof overview},
    {"rejections.js", rejections, sizeof rejections},
    {"timeline.js", timeline, sizeof timeline},
    {"lookup.js", lookup, sizeof lookup},
    {"dashboard.js", dashboard, sizeof dashboard},
};

size_t CDashboard_file_count(void) { return sizeof files / sizeof files[0]; }

CDashboardFile CDashboard_file(size_t index) { return files[index]; }
