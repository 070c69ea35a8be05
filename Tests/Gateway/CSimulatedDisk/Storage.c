// SPDX-License-Identifier: Apache-2.0

#include "Storage.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// MARK: Chance

/// SplitMix64, as in SeedKit.
uint64_t disk_next(CSimulatedDisk *disk) {
    disk->chance += 0x9e3779b97f4a7c15;
    uint64_t mixed = disk->chance;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
}

uint64_t disk_below(CSimulatedDisk *disk, uint64_t limit) { return disk_next(disk) % limit; }

// MARK: What the disk has

void file_forget_changes(File *file) {
    while (file->first) {
        Change *change = file->first;
        file->first = change->next;
        free(change);
    }
    file->last = &file->first;
}

static void resize(File *file, int64_t size) {
    if (size > file->capacity) {
        file->capacity = size * 2;
        file->bytes = realloc(file->bytes, (size_t)file->capacity);
        if (!file->bytes) abort();
    }
    if (size > file->size) memset(file->bytes + file->size, 0, (size_t)(size - file->size));
    file->size = size;
}

/// Applies the first so many bytes of a change, or a cut.
static void apply(File *file, const Change *change, int64_t count) {
    if (change->isCut) {
        if (change->offset < file->size) resize(file, change->offset);
        return;
    }
    if (count == 0) return;
    int64_t end = change->offset + count;
    if (end > file->size) resize(file, end);
    memcpy(file->bytes + change->offset, change->bytes, (size_t)count);
}

void file_record(File *file, bool isCut, const void *bytes, int64_t count, int64_t offset) {
    Change *change = malloc(sizeof *change + (size_t)(isCut ? 0 : count));
    if (!change) abort();
    change->next = NULL;
    change->isCut = isCut;
    change->offset = offset;
    change->count = count;
    if (!isCut) memcpy(change->bytes, bytes, (size_t)count);
    *file->last = change;
    file->last = &change->next;
}

void file_make_durable(File *file) {
    for (const Change *change = file->first; change; change = change->next) {
        apply(file, change, change->count);
    }
    file_forget_changes(file);
}

void disk_sync_folder(CSimulatedDisk *disk) {
    for (Name *name = disk->names; name; name = name->next) name->durable = name->now;
}

/// A sync that failed: the system forgets that some of it is to be written.
void file_give_up(CSimulatedDisk *disk, File *file) {
    Change **place = &file->first;
    while (*place) {
        Change *change = *place;
        if (disk_below(disk, 2) == 0) {
            place = &change->next;
            continue;
        }
        *place = change->next;
        free(change);
        file->hasGivenUp = true;
    }
    file->last = place;
}

// MARK: Power cuts

/// The size of a file after its first so many changes.
static int64_t size_after(const File *file, int64_t count) {
    int64_t size = file->size;
    for (const Change *change = file->first; change && count > 0; change = change->next) {
        int64_t end = change->offset + change->count;
        if (change->isCut ? change->offset < size : end > size) {
            size = change->isCut ? change->offset : end;
        }
        count -= 1;
    }
    return size;
}

/// All changes up to one, of which a part.
static void lose_tail(CSimulatedDisk *disk, File *file, int64_t count, int64_t sector) {
    int64_t kept = (int64_t)disk_below(disk, (uint64_t)count + 1);
    int64_t place = 0;
    for (const Change *change = file->first; change; change = change->next, place += 1) {
        int64_t sectors = (change->count + sector - 1) / sector;
        if (place < kept) {
            apply(file, change, change->count);
        } else if (place == kept && !change->isCut && sectors > 0) {
            int64_t whole = (int64_t)disk_below(disk, (uint64_t)sectors);
            apply(file, change, whole * sector);
            if (whole > 0) disk->counts.tornWrites += 1;
            disk->counts.lostSectors += (uint64_t)(sectors - whole);
        } else {
            disk->counts.lostSectors += (uint64_t)sectors;
        }
    }
}

/// Of each sector one of the states that it has had, and one of the sizes.
static void reorder(CSimulatedDisk *disk, File *file, int64_t count, int64_t sector) {
    int64_t size = size_after(file, (int64_t)disk_below(disk, (uint64_t)count + 1));
    int64_t extent = file->size;
    for (const Change *change = file->first; change; change = change->next) {
        int64_t end = change->offset + change->count;
        if (!change->isCut && end > extent) extent = end;
    }
    int64_t sectors = (extent + sector - 1) / sector;
    int64_t *kept = malloc((size_t)(sectors + 1) * sizeof *kept);
    if (!kept) abort();
    for (int64_t place = 0; place < sectors; place += 1) {
        switch (disk_below(disk, 3)) {
        case 0: kept[place] = 0; break;
        case 1: kept[place] = count; break;
        default: kept[place] = (int64_t)disk_below(disk, (uint64_t)count + 1);
        }
    }
    resize(file, extent);
    int64_t number = 0;
    for (const Change *change = file->first; change; change = change->next, number += 1) {
        int64_t start = change->offset;
        int64_t end = change->isCut ? extent : change->offset + change->count;
        uint64_t written = 0, lost = 0;
        for (int64_t place = start; place < end;) {
            int64_t upper = (place / sector + 1) * sector;
            if (upper > end) upper = end;
            bool isKept = number < kept[place / sector];
            if (isKept && change->isCut) {
                memset(file->bytes + place, 0, (size_t)(upper - place));
            } else if (isKept) {
                memcpy(
                    file->bytes + place, change->bytes + (place - start), (size_t)(upper - place));
            }
            if (isKept) written += 1; else lost += 1;
            place = upper;
        }
        if (change->isCut) continue;
        disk->counts.lostSectors += lost;
        if (written > 0 && lost > 0) disk->counts.tornWrites += 1;
    }
    free(kept);
    resize(file, size);
}

/// Decides what of a file's changes the disk has.
static void lose_power(CSimulatedDisk *disk, File *file) {
    int64_t count = 0;
    for (const Change *change = file->first; change; change = change->next) count += 1;
    int64_t sector = disk_below(disk, 2) == 0 ? 512 : 4096;
    switch (disk_below(disk, 5)) {
    case 0:
        // Nothing of it.
        for (const Change *change = file->first; change; change = change->next) {
            disk->counts.lostSectors += (uint64_t)((change->count + sector - 1) / sector);
        }
        break;
    case 1: file_make_durable(file); break;
    case 2: lose_tail(disk, file, count, sector); break;
    default: reorder(disk, file, count, sector);
    }
    file_forget_changes(file);
    file->hasGivenUp = false;
    file->syncsFolder = false;
}

/// Gives programs what the disk has.
static void write_out(const char *path, const File *file) {
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (descriptor < 0) abort();
    int64_t place = 0;
    while (place < file->size) {
        ssize_t count = write(descriptor, file->bytes + place, (size_t)(file->size - place));
        if (count <= 0) abort();
        place += count;
    }
    close(descriptor);
}

void disk_restart(CSimulatedDisk *disk, bool isPowerCut, uint64_t seed) {
    disk->chance = seed;
    for (Name *name = disk->names; name; name = name->next) {
        if (!isPowerCut) {
            if (name->now && name->now->hasGivenUp && disk_below(disk, 2) == 0) {
                file_make_durable(name->now);
                name->now->hasGivenUp = false;
                write_out(name->path, name->now);
            }
            continue;
        }
        File *left = disk_below(disk, 2) == 0 ? name->now : name->durable;
        if (left != name->now && name->now) disk->counts.lostFiles += 1;
        name->now = left;
        name->durable = left;
        if (left) {
            lose_power(disk, left);
            write_out(name->path, left);
        } else {
            unlink(name->path);
        }
    }
    disk->isDown = false;
    disk->isPlanned = false;
}

