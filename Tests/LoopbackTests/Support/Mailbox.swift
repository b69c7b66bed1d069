import CausewaySystem
import Dispatch
import Testing

/// Passes elements from callbacks to a test, in order. Every wait has a time limit.
///
/// Only one test may wait at a time.
final class Mailbox<Element: Sendable>: Sendable {
    private struct State {
        var items: [Element] = []
        var taken = 0
        var waiter: CheckedContinuation<Element?, Never>?
        /// The number of the current wait. Each wait increments it, so that the timeout of an earlier wait does not end
        /// a later wait.
        var turn = 0

        mutating func take() -> Element? {
            guard taken < items.count else { return nil }
            taken += 1
            return items[taken - 1]
        }
    }

    private let state = LockedValue(State())

    /// All elements so far.
    var history: [Element] { state.withLock { state in state.items } }

    func put(_ item: Element) {
        let delivery = state.withLock { state -> (CheckedContinuation<Element?, Never>, Element)? in
            state.items.append(item)
            guard let waiter = state.waiter.take(), let next = state.take() else { return nil }
            return (waiter, next)
        }
        if let (waiter, next) = delivery { waiter.resume(returning: next) }
    }

    /// Waits for the next element that no caller has taken yet.
    func next(
        within limit: Duration = Patience.limit, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Element {
        guard let item = await take(within: limit) else {
            throw TookTooLong(what: "\(Element.self)", limit: limit, place: sourceLocation)
        }
        return item
    }

    /// Drops elements up to the first that satisfies the predicate, and returns that one.
    @discardableResult
    func first(
        within limit: Duration = Patience.limit, sourceLocation: SourceLocation = #_sourceLocation,
        where isWanted: (Element) -> Bool
    ) async throws -> Element {
        while true {
            let item = try await next(within: limit, sourceLocation: sourceLocation)
            if isWanted(item) { return item }
        }
    }

    /// Waits for the next `count` elements.
    func next(
        _ count: Int, within limit: Duration = Patience.limit, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [Element] {
        var found: [Element] = []
        while found.count < count { found.append(try await next(within: limit, sourceLocation: sourceLocation)) }
        return found
    }

    /// Waits for the next element. Returns `nil` after the time limit.
    func take(within limit: Duration) async -> Element? {
        let item = await wait(within: limit)
        // Take the lock once to avoid a false report by ThreadSanitizer. A continuation may be resumed before its task
        // has suspended. ThreadSanitizer then does not see that the continuation hands over the element. It does see
        // this lock, which the other thread released after it had added the element.
        state.withLock { _ in }
        return item
    }

    private func wait(within limit: Duration) async -> Element? {
        await withCheckedContinuation { continuation in
            let (item, turn) = state.withLock { state -> (Element?, Int) in
                state.turn += 1
                let item = state.take()
                if item == nil { state.waiter = continuation }
                return (item, state.turn)
            }
            if let item { return continuation.resume(returning: item) }
            DispatchQueue.global().asyncAfter(deadline: .now() + limit.dispatchInterval) { [weak self] in
                self?.giveUp(turn)
            }
        }
    }

    private func giveUp(_ turn: Int) {
        let waiter = state.withLock { state in state.turn == turn ? state.waiter.take() : nil }
        waiter?.resume(returning: nil)
    }
}

enum Patience {
    /// The limit for an expected event. Sanitizers and busy machines are slow.
    static let limit: Duration = .seconds(90)
    /// The time for which a test waits for an event that must not occur.
    static let silence: Duration = .milliseconds(150)
}

struct TookTooLong: Error, CustomStringConvertible {
    var what: String
    var limit: Duration
    var place: SourceLocation

    var description: String { "no \(what) within \(limit), waited for at \(place)" }
}

extension Duration {
    var dispatchInterval: DispatchTimeInterval { .nanoseconds(Int(clamping: nanoseconds)) }
}

extension Mailbox where Element: Equatable {
    /// Expects the mailbox's next elements to be exactly these, in this order.
    func expect(_ wanted: Element..., sourceLocation: SourceLocation = #_sourceLocation) async throws {
        for element in wanted {
            let found = try await next(sourceLocation: sourceLocation)
            #expect(found == element, sourceLocation: sourceLocation)
        }
    }
}
