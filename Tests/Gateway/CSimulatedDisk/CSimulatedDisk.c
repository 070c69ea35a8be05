// SPDX-License-Identifier: Apache-2.0

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "Storage.h"

/// A file as SQLite has it open; the system's own follows.
typedef struct {
    sqlite3_file base;
    CSimulatedDisk *disk;
    File *file;
} Handle;

/// Protects all that is here. Operations of the system run under it, so that their order is one.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static CSimulatedDisk *disks;
static sqlite3_vfs *system_vfs;
static sqlite3_vfs simulated_vfs;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static sqlite3_file *under(sqlite3_file *file) {
    return (sqlite3_file *)((char *)file + sizeof(Handle));
}

// MARK: Trouble

/// What happens to an operation; negative when nothing does.
static int trouble(CSimulatedDisk *disk, CSimulatedDiskOperation operation) {
    bool isMeant = disk->operation == operation ||
                   (disk->operation == CSimulatedDiskAnyChange && operation != CSimulatedDiskRead);
    if (!disk->isPlanned || !isMeant) return -1;
    if (disk->countdown > 0) {
        disk->countdown -= 1;
        return -1;
    }
    disk->isPlanned = false;
    if (disk->trouble == CSimulatedDiskDeath) {
        disk->isDown = true;
    } else {
        disk->counts.failures += 1;
    }
    return (int)disk->trouble;
}

void CSimulatedDisk_plan(
    CSimulatedDisk *disk, CSimulatedDiskOperation operation, CSimulatedDiskTrouble trouble,
    uint64_t count) {
    pthread_mutex_lock(&mutex);
    disk->isPlanned = true;
    disk->operation = operation;
    disk->trouble = trouble;
    disk->countdown = count;
    pthread_mutex_unlock(&mutex);
}

bool CSimulatedDisk_calm(CSimulatedDisk *disk) {
    pthread_mutex_lock(&mutex);
    bool hasHappened = !disk->isPlanned;
    disk->isPlanned = false;
    pthread_mutex_unlock(&mutex);
    return hasHappened;
}

void CSimulatedDisk_stop(CSimulatedDisk *disk) {
    pthread_mutex_lock(&mutex);
    disk->isDown = true;
    pthread_mutex_unlock(&mutex);
}

bool CSimulatedDisk_isDown(CSimulatedDisk *disk) {
    pthread_mutex_lock(&mutex);
    bool isDown = disk->isDown;
    pthread_mutex_unlock(&mutex);
    return isDown;
}

void CSimulatedDisk_restart(CSimulatedDisk *disk, bool isPowerCut, uint64_t seed) {
    pthread_mutex_lock(&mutex);
    disk_restart(disk, isPowerCut, seed);
    pthread_mutex_unlock(&mutex);
}

CSimulatedDiskCounts CSimulatedDisk_counts(CSimulatedDisk *disk) {
    pthread_mutex_lock(&mutex);
    CSimulatedDiskCounts counts = disk->counts;
    pthread_mutex_unlock(&mutex);
    return counts;
}

// MARK: Files

static int read_file(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    CSimulatedDisk *disk = ((Handle *)file)->disk;
    pthread_mutex_lock(&mutex);
    int code = SQLITE_IOERR_READ;
    if (!disk->isDown && trouble(disk, CSimulatedDiskRead) < 0) {
        code = under(file)->pMethods->xRead(under(file), bytes, count, offset);
    }
    pthread_mutex_unlock(&mutex);
    return code;
}

static int write_file(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    Handle *handle = (Handle *)file;
    CSimulatedDisk *disk = handle->disk;
    pthread_mutex_lock(&mutex);
    int code = SQLITE_IOERR_WRITE;
    if (!disk->isDown) {
        int kind = trouble(disk, CSimulatedDiskWrite);
        int done = count;
        if (kind >= 0) done = (int)disk_below(disk, (uint64_t)count + 1) / 512 * 512;
        code = SQLITE_OK;
        if (done > 0) code = under(file)->pMethods->xWrite(under(file), bytes, done, offset);
        if (code == SQLITE_OK && done > 0) {
            file_record(handle->file, false, bytes, done, offset);
            disk->counts.writes += 1;
        }
        if (kind >= 0) code = kind == CSimulatedDiskFull ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    }
    pthread_mutex_unlock(&mutex);
    return code;
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size) {
    Handle *handle = (Handle *)file;
    CSimulatedDisk *disk = handle->disk;
    pthread_mutex_lock(&mutex);
    int code = SQLITE_IOERR_TRUNCATE;
    if (!disk->isDown && trouble(disk, CSimulatedDiskRemoval) < 0) {
        code = under(file)->pMethods->xTruncate(under(file), size);
        if (code == SQLITE_OK) file_record(handle->file, true, NULL, 0, size);
    }
    pthread_mutex_unlock(&mutex);
    return code;
}

/// Syncs a file: 0, or an `errno`.
static int sync_now(CSimulatedDisk *disk, File *file) {
    if (disk->isDown) return EIO;
    int kind = trouble(disk, CSimulatedDiskSync);
    if (kind == CSimulatedDiskError) file_give_up(disk, file);
    if (kind == CSimulatedDiskDeath) return EIO;
    if (kind >= 0) {
        disk->counts.failedSyncs += 1;
        return kind == CSimulatedDiskFull ? ENOSPC : EIO;
    }
    disk->counts.syncs += 1;
    file_make_durable(file);
    return 0;
}

static int sync_file(sqlite3_file *file, int flags) {
    (void)flags;
    Handle *handle = (Handle *)file;
    pthread_mutex_lock(&mutex);
    int code = sync_now(handle->disk, handle->file) == 0 ? SQLITE_OK : SQLITE_IOERR_FSYNC;
    if (code == SQLITE_OK && handle->file->syncsFolder) {
        handle->file->syncsFolder = false;
        disk_sync_folder(handle->disk);
    }
    pthread_mutex_unlock(&mutex);
    return code;
}

static Name *named(CSimulatedDisk *disk, const char *path) {
    Name *name = disk->names;
    while (name && strcmp(name->path, path) != 0) name = name->next;
    return name;
}

int CSimulatedDisk_sync(CSimulatedDisk *disk, const char *path) {
    pthread_mutex_lock(&mutex);
    Name *name = named(disk, path);
    int code = name && name->now ? sync_now(disk, name->now) : EBADF;
    pthread_mutex_unlock(&mutex);
    return code;
}

// What changes nothing on the disk goes to the system's file.

static int close_file(sqlite3_file *file) { return under(file)->pMethods->xClose(under(file)); }

static int size_file(sqlite3_file *file, sqlite3_int64 *size) {
    return under(file)->pMethods->xFileSize(under(file), size);
}

static int lock_file(sqlite3_file *file, int lock) {
    return under(file)->pMethods->xLock(under(file), lock);
}

static int unlock_file(sqlite3_file *file, int lock) {
    return under(file)->pMethods->xUnlock(under(file), lock);
}

static int check_lock(sqlite3_file *file, int *isReserved) {
    return under(file)->pMethods->xCheckReservedLock(under(file), isReserved);
}

static int control_file(sqlite3_file *file, int verb, void *argument) {
    // The system would make room in the file ahead of the writes.
    if (verb == SQLITE_FCNTL_SIZE_HINT) return SQLITE_OK;
    return under(file)->pMethods->xFileControl(under(file), verb, argument);
}

static int sector_size(sqlite3_file *file) {
    return under(file)->pMethods->xSectorSize(under(file));
}

static int characteristics(sqlite3_file *file) {
    return under(file)->pMethods->xDeviceCharacteristics(under(file));
}

static int map_index(sqlite3_file *file, int page, int size, int extends, void volatile **bytes) {
    return under(file)->pMethods->xShmMap(under(file), page, size, extends, bytes);
}

static int lock_index(sqlite3_file *file, int offset, int count, int flags) {
    return under(file)->pMethods->xShmLock(under(file), offset, count, flags);
}

static void order_index(sqlite3_file *file) { under(file)->pMethods->xShmBarrier(under(file)); }

static int unmap_index(sqlite3_file *file, int removes) {
    // The dead remove nothing.
    bool isDown = CSimulatedDisk_isDown(((Handle *)file)->disk);
    return under(file)->pMethods->xShmUnmap(under(file), isDown ? 0 : removes);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = size_file,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_lock,
    .xFileControl = control_file,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = map_index,
    .xShmLock = lock_index,
    .xShmBarrier = order_index,
    .xShmUnmap = unmap_index,
};

// MARK: The file system

/// The disk that has a path, if one does. To be called under the mutex.
static CSimulatedDisk *disk_of(const char *path) {
    for (CSimulatedDisk *disk = disks; path && disk; disk = disk->next) {
        size_t length = strlen(disk->folder);
        if (strncmp(path, disk->folder, length) == 0 && path[length] == '/') return disk;
    }
    return NULL;
}

static File *make_file(CSimulatedDisk *disk) {
    File *file = calloc(1, sizeof *file);
    if (!file) abort();
    file->last = &file->first;
    file->next = disk->files;
    disk->files = file;
    return file;
}

static Name *make_name(CSimulatedDisk *disk, const char *path) {
    Name *name = calloc(1, sizeof *name);
    if (!name || !(name->path = strdup(path))) abort();
    name->next = disk->names;
    disk->names = name;
    return name;
}

/// The file that is about to be opened. One that others made is empty, and its name is not on the
/// disk before the folder is synced.
static File *file_at(CSimulatedDisk *disk, const char *path, int flags) {
    Name *name = named(disk, path);
    if (!name) name = make_name(disk, path);
    bool exists = access(path, F_OK) == 0;
    if (!name->now || !exists) {
        name->now = make_file(disk);
        name->now->syncsFolder = !exists && flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL);
    }
    return name->now;
}

static int open_file(
    sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *outFlags) {
    (void)vfs;
    pthread_mutex_lock(&mutex);
    const int kept = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL;
    CSimulatedDisk *disk = flags & kept ? disk_of(path) : NULL;
    if (!disk) {
        pthread_mutex_unlock(&mutex);
        return system_vfs->xOpen(system_vfs, path, file, flags, outFlags);
    }
    file->pMethods = NULL;
    int code = SQLITE_CANTOPEN;
    if (!disk->isDown) {
        bool exists = access(path, F_OK) == 0;
        if (exists || flags & SQLITE_OPEN_CREATE) {
            Handle *handle = (Handle *)file;
            handle->disk = disk;
            handle->file = file_at(disk, path, flags);
            code = system_vfs->xOpen(system_vfs, path, under(file), flags, outFlags);
            if (code == SQLITE_OK) file->pMethods = &methods;
        }
    }
    pthread_mutex_unlock(&mutex);
    return code;
}

static int remove_file(sqlite3_vfs *vfs, const char *path, int syncsFolder) {
    (void)vfs;
    pthread_mutex_lock(&mutex);
    CSimulatedDisk *disk = disk_of(path);
    Name *name = disk ? named(disk, path) : NULL;
    int code = SQLITE_IOERR_DELETE;
    if (!name) {
        code = system_vfs->xDelete(system_vfs, path, syncsFolder);
    } else if (!disk->isDown && trouble(disk, CSimulatedDiskRemoval) < 0) {
        code = system_vfs->xDelete(system_vfs, path, 0);
        if (code == SQLITE_OK) {
            name->now = NULL;
            if (syncsFolder) disk_sync_folder(disk);
        }
    }
    pthread_mutex_unlock(&mutex);
    return code;
}

/// SQL's `random()`, from the disk's seed: what a new store is given does not differ from run to
/// run.
static void random_number(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    (void)values;
    CSimulatedDisk *disk = sqlite3_user_data(context);
    pthread_mutex_lock(&mutex);
    sqlite3_result_int64(context, (sqlite3_int64)disk_next(disk));
    pthread_mutex_unlock(&mutex);
}

static int add_functions(
    sqlite3 *connection, char **message, const struct sqlite3_api_routines *routines) {
    (void)message;
    (void)routines;
    pthread_mutex_lock(&mutex);
    CSimulatedDisk *disk = disk_of(sqlite3_db_filename(connection, "main"));
    pthread_mutex_unlock(&mutex);
    if (!disk) return SQLITE_OK;
    return sqlite3_create_function(
        connection, "random", 0, SQLITE_UTF8, disk, random_number, NULL, NULL);
}

static void enter(void) {
    system_vfs = sqlite3_vfs_find(NULL);
    if (!system_vfs) abort();
    simulated_vfs = *system_vfs;
    simulated_vfs.iVersion = 1;
    simulated_vfs.szOsFile = (int)sizeof(Handle) + system_vfs->szOsFile;
    simulated_vfs.pNext = NULL;
    simulated_vfs.zName = "rouse-simulated-disk";
    simulated_vfs.xOpen = open_file;
    simulated_vfs.xDelete = remove_file;
    sqlite3_vfs_register(&simulated_vfs, 1);
    sqlite3_auto_extension((void (*)(void))add_functions);
}

CSimulatedDisk *CSimulatedDisk_make(const char *folder, uint64_t seed) {
    pthread_once(&once, enter);
    CSimulatedDisk *disk = calloc(1, sizeof *disk);
    if (!disk) return NULL;
    disk->folder = strdup(folder);
    if (!disk->folder) {
        free(disk);
        return NULL;
    }
    disk->chance = seed;
    pthread_mutex_lock(&mutex);
    disk->next = disks;
    disks = disk;
    pthread_mutex_unlock(&mutex);
    return disk;
}

void CSimulatedDisk_free(CSimulatedDisk *disk) {
    pthread_mutex_lock(&mutex);
    CSimulatedDisk **place = &disks;
    while (*place != disk) place = &(*place)->next;
    *place = disk->next;
    pthread_mutex_unlock(&mutex);
    while (disk->files) {
        File *file = disk->files;
        disk->files = file->next;
        file_forget_changes(file);
        free(file->bytes);
        free(file);
    }
    while (disk->names) {
        Name *name = disk->names;
        disk->names = name->next;
        free(name->path);
        free(name);
    }
    free(disk->folder);
    free(disk);
}
