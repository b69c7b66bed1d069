internal import DequeModule

/// Shares a link between channels by deficit round robin. In each round, every channel may send about the same number
/// of bytes.
struct LaneScheduler<Channel: Hashable & Sendable>: Sendable {
    /// The number of bytes that a channel may send in each round.
    static var quantum: Int { 16 << 10 }

    private var order: Deque<Channel> = []
    private var deficits: [Channel: Int] = [:]

    /// Adds a channel with content. This has no effect if the channel is already scheduled.
    mutating func activate(_ channel: Channel) {
        guard deficits[channel] == nil else { return }
        deficits[channel] = 0
        order.append(channel)
    }

    /// Chooses the channel that sends next.
    ///
    /// - Parameter size: Returns the size of the next frame in a channel. `nil` means that the channel has no frame; it
    ///   is then removed.
    mutating func next(size: (Channel) -> Int?) -> Channel? {
        while let channel = order.first {
            guard let needed = size(channel) else {
                order.removeFirst()
                deficits[channel] = nil
                continue
            }
            let deficit = deficits[channel] ?? 0
            if deficit >= needed {
                deficits[channel] = deficit - needed
                return channel
            }
            deficits[channel] = deficit + Self.quantum
            order.append(order.removeFirst())
        }
        return nil
    }

    /// Returns the next channel that has content. Channels before it in the order have no content, so they are removed.
    mutating func peek(size: (Channel) -> Int?) -> Channel? {
        while let channel = order.first {
            if size(channel) != nil { return channel }
            order.removeFirst()
            deficits[channel] = nil
        }
        return nil
    }
}
