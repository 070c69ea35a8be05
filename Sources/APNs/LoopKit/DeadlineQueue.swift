// SPDX-License-Identifier: Apache-2.0

internal import HeapModule

/// Finds what is overdue without scanning the rest.
///
/// A heap with lazy removal: who finishes in time stays in it until its time or until the finished
/// outnumber the rest, when the heap is built anew from those that live. So it holds at most about
/// twice what is alive.
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

    /// How many entries are kept, finished ones included.
    package var count: Int { heap.count }

    /// Adds one, due at a time in monotonic milliseconds.
    package func insert(_ id: UInt64, due: Int64) {
        heap.insert(Entry(due: due, id: id))
        living += 1
    }

    /// One finished in time. `isLiving` says who has not, and is asked only when it is time to
    /// tidy up. It is asked about the time too, because an id may be used again after its end.
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

    /// When the next one is due.
    package var nextDue: Int64? { heap.min?.due }
}
