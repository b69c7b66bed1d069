internal import CausewayWire

/// The flow control of received content, for one stream or for the connection (RFC 9113 §6.9.1).
///
/// The window grows by what the program takes, so a program that stops taking content stops the peer.
struct HTTP2ReceiveWindow: Sendable {
    /// The size of the window while no content is waiting for the program.
    private(set) var size: Int
    /// The number of bytes that the peer may still send. Negative after the size was reduced.
    private(set) var available: Int
    /// The number of bytes that were taken and not yet announced to the peer.
    private var unannounced = 0

    init(size: Int) {
        self.size = size
        available = size
    }

    /// Accounts for received bytes. Returns `false` if the peer exceeds the window.
    mutating func receive(_ count: Int) -> Bool {
        guard count <= available else { return false }
        available -= count
        return true
    }

    /// Accounts for taken bytes. Returns the increment to announce, when at least half the window is free again. Smaller increments would
    /// cost a frame for little content (RFC 9113 §6.9.1).
    mutating func credit(_ count: Int) -> Int? {
        // The credit is limited to the received bytes, also if the program counts wrongly.
        unannounced = min(unannounced + max(0, count), size - available)
        guard unannounced > 0, unannounced >= size / 2 else { return nil }
        defer { unannounced = 0 }
        available += unannounced
        return unannounced
    }

    /// Changes the size by a setting that the peer knows (RFC 9113 §6.9.2).
    mutating func resize(by difference: Int) {
        size += difference
        available += difference
    }

    /// Changes the size by a WINDOW_UPDATE frame. Returns the increment.
    mutating func grow(to newSize: Int) -> Int? {
        guard newSize > size else { return nil }
        let increment = newSize - size
        resize(by: increment)
        return increment
    }
}
