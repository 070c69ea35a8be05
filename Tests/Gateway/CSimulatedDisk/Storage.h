// SPDX-License-Identifier: Apache-2.0
//
// What a simulated disk has, and what chance makes of it. Nothing here may be called by two threads
// at a time.

#ifndef STORAGE_H
#define STORAGE_H

#include "CSimulatedDisk.h"

/// A write, or the cutting of a file to a size, that was not synced.
typedef struct Change {
    struct Change *next;
    bool isCut;
    /// Where the bytes belong; of a cut, the new size.
    int64_t offset;
    int64_t count;
    unsigned char bytes[];
} Change;

/// A file, whatever its name is.
typedef struct File {
    struct File *next;
    /// What the disk has of it.
    unsigned char *bytes;
    int64_t size;
    int64_t capacity;
    Change *first;
    Change **last;
    /// Whether SQLite syncs the folder with the next sync of it, as it does of a log that it made.
    bool syncsFolder;
    /// Whether a sync failed, and left something readable that is not on the disk.
    bool hasGivenUp;
} File;

/// A name in the folder.
typedef struct Name {
    struct Name *next;
    char *path;
    /// The file that it names, for programs and on the disk; `NULL` for none.
    File *now;
    File *durable;
} Name;

struct CSimulatedDisk {
    CSimulatedDisk *next;
    char *folder;
    Name *names;
    File *files;
    uint64_t chance;
    bool isDown;
    bool isPlanned;
    CSimulatedDiskOperation operation;
    CSimulatedDiskTrouble trouble;
    uint64_t countdown;
    CSimulatedDiskCounts counts;
};


/// A number of 64 bits, from the disk's seed.
uint64_t disk_next(CSimulatedDisk *disk);

/// A number below this limit, which is positive.
uint64_t disk_below(CSimulatedDisk *disk, uint64_t limit);

/// Notes a write, or a cut to the size `offset`.
void file_record(File *file, bool isCut, const void *bytes, int64_t count, int64_t offset);

/// Brings all changes to the disk.
void file_make_durable(File *file);

/// Forgets all changes.
void file_forget_changes(File *file);

/// A sync that failed: the system forgets that some of it is to be written.
void file_give_up(CSimulatedDisk *disk, File *file);

/// Brings all names to the disk.
void disk_sync_folder(CSimulatedDisk *disk);

/// See `CSimulatedDisk_restart`.
void disk_restart(CSimulatedDisk *disk, bool isPowerCut, uint64_t seed);

#endif
