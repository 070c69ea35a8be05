// SPDX-License-Identifier: Apache-2.0
//
// A disk for tests that fails, stops in the middle of a write, and loses what was not synced.
//
// It is a file system of SQLite's kind (sqlite3_vfs) in front of the system's own, and the default
// one of the process from `CSimulatedDisk_make` on. Files outside of its folder are opened by the
// system's file system itself, and are not touched. Of the database, its log and its journal within
// the folder it remembers which bytes are on the disk, and what has been written, cut, made or
// removed since. What programs see are ordinary files.
//
// All chance comes from the seeds that it is given. All functions may be called from any thread.

#ifndef CSIMULATEDDISK_H
#define CSIMULATEDDISK_H

#include <stdbool.h>
#include <stdint.h>

/// A disk.
typedef struct CSimulatedDisk CSimulatedDisk;

/// What a disk does, of which one time can be singled out.
typedef enum {
    CSimulatedDiskRead,
    CSimulatedDiskWrite,
    CSimulatedDiskSync,
    /// Cutting or removing a file.
    CSimulatedDiskRemoval,
    /// Each of the above but reading.
    CSimulatedDiskAnyChange,
} CSimulatedDiskOperation;

/// What happens at that time.
typedef enum {
    /// An I/O error. A part of a write may be done; of what a sync should have brought to the disk
    /// some is given up for good, although it can still be read.
    CSimulatedDiskError,
    /// No space is left. A part of a write may be done.
    CSimulatedDiskFull,
    /// The process dies, or the machine: nothing more is done from then on, a write in part.
    CSimulatedDiskDeath,
} CSimulatedDiskTrouble;

/// What a disk did.
typedef struct {
    uint64_t writes;
    uint64_t syncs;
    /// Errors and full disks.
    uint64_t failures;
    /// The syncs among them.
    uint64_t failedSyncs;
    /// Sectors that a power cut took back, and files.
    uint64_t lostSectors;
    uint64_t lostFiles;
    /// Writes of which a power cut took a part back.
    uint64_t tornWrites;
} CSimulatedDiskCounts;

/// A disk for the files in this folder, which is there and has no other name. `NULL` without memory.
CSimulatedDisk *_Nullable CSimulatedDisk_make(const char *_Nonnull folder, uint64_t seed);

/// Forgets a disk none of whose files is open. The files stay.
void CSimulatedDisk_free(CSimulatedDisk *_Nonnull disk);

/// Has the operation of this kind after `count` others end in trouble. It takes the place of what
/// was planned before.
void CSimulatedDisk_plan(
    CSimulatedDisk *_Nonnull disk, CSimulatedDiskOperation operation, CSimulatedDiskTrouble trouble,
    uint64_t count);

/// Takes back what was planned; whether that has happened already.
bool CSimulatedDisk_calm(CSimulatedDisk *_Nonnull disk);

/// Has nothing more be done, as when the process dies, until `CSimulatedDisk_restart`.
void CSimulatedDisk_stop(CSimulatedDisk *_Nonnull disk);

/// Whether nothing more is done.
bool CSimulatedDisk_isDown(CSimulatedDisk *_Nonnull disk);

/// Syncs a file as fdatasync(2) does, for whoever has a descriptor of it: 0, or an `errno`.
int CSimulatedDisk_sync(CSimulatedDisk *_Nonnull disk, const char *_Nonnull path);

/// Starts again after a death. No file may be open. Without the power cut files are as they were,
/// except that what a failed sync gave up may be gone. With it they are as the disk has them: all
/// that was synced, and of what came since what chance leaves of it, in any order, torn at 512 or
/// 4 096 bytes.
void CSimulatedDisk_restart(CSimulatedDisk *_Nonnull disk, bool isPowerCut, uint64_t seed);

/// What it did so far.
CSimulatedDiskCounts CSimulatedDisk_counts(CSimulatedDisk *_Nonnull disk);

#endif
