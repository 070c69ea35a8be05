// SPDX-License-Identifier: Apache-2.0

internal import HeapModule

/// Finds the overdue elements without scanning the rest.
///
/// A heap with lazy removal: an element that finishes in time stays in it until its due time, or
/// until the finished ones outnumber the rest and the heap is rebuilt without them. So it has at
/// most about twice as many elements as are unfinished.
///
/// A class, so that a loop that has it as a constant touches it without checks while it runs.
package final class DeadlineQueue {
    private struct Entry: Comparable {
        let due: Int64
        let id: UInt64
        static func < (left: Entry, right: Entry) -> Bool { left.due < right.due }
    }

    private var heap = Heap<Entry>()
    private var living = 0

    /// Creates an empty queue.
    package init() {}

    /// The number of entries, finished ones included.
    package var count: Int { heap.count }

    /// Adds an element that is due at a time in monotonic milliseconds.
    package func insert(_ id: UInt64, due: Int64) {
        heap.insert(Entry(due: due, id: id))
        living += 1
    }

    /// Records that an element finished in time. `isLiving` returns whether one has not, and is
    /// called only for a rebuild. It gets the due time too, because an id may be used again after
    /// its end.
    package func didFinish(isLiving: (_ id: UInt64, _ due: Int64) -> Bool) {
        living -= 1
        guard heap.count > 2 * living + 1024 else { return }
        heap = Heap(heap.unordered.filter { isLiving($0.id, $0.due) })
    }

    /// The next element that is due at `now`, finished or not; `nil` when there is none.
    package func popDue(now: Int64) -> UInt64? {
        guard let first = heap.min, first.due <= now else { return nil }
        return heap.popMin()?.id
    }

    /// The due time of the next element.
    package var nextDue: Int64? { heap.min?.due }
}
