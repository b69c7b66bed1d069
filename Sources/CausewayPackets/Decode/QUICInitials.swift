/// Decrypts Initial packets from QUIC clients (RFC 9000 §17.2.2) and finds the ClientHello in them.
///
/// A ClientHello may span several datagrams, so this type stores the keys and the data of at most ``connectionLimit``
/// connections.
struct QUICInitials: Sendable {
    /// The maximum number of connections whose keys and data are stored.
    static let connectionLimit = 1_024
    /// The minimum length in bytes for the first Destination Connection ID (RFC 9000 §7.2).
    private static let shortestFirstIdentifier = 8

    /// The addresses and ports of packets that travel in one direction.
    struct Flow: Hashable, Sendable {
        var sourceHigh: UInt64 = 0, sourceLow: UInt64 = 0
        var destinationHigh: UInt64 = 0, destinationLow: UInt64 = 0
        var sourcePort: UInt16, destinationPort: UInt16
    }

    /// What was read from a datagram with at least one authentic client Initial packet.
    struct Opened: Equatable {
        /// The ClientHello, if this datagram completes it.
        var hello: ClientHello?
    }

    private struct Exchange {
        let identifier: [UInt8]
        let version: UInt32
        let keys: QUICInitialKeys
        var assembly = CryptoAssembly()

        /// Adds QUIC frames. Returns the first TLS message if it is complete.
        mutating func receive(_ frames: [UInt8]) -> [UInt8]? {
            assembly.add(frames: ByteView(frames.span))
            return assembly.takeMessage()
        }
    }

    private let cipher: QUICInitialCipher
    private var exchanges: [Flow: Exchange] = [:]

    init(_ cipher: QUICInitialCipher) { self.cipher = cipher }

    /// The number of stored connections.
    var count: Int { exchanges.count }

    /// Decrypts all Initial packets in a datagram. Returns `nil` if none is authentic.
    mutating func open(_ datagram: borrowing ByteView, _ flow: Flow) -> Opened? {
        var opened: Opened?
        var offset = 0
        while let place = QUICPacketPlace(datagram, at: offset) {
            offset = place.end
            guard place.kind == .initial, let frames = frames(datagram, place, flow) else { continue }
            let message = exchanges[flow]?.receive(frames) ?? []
            let hello = ClientHello(message: ByteView(message.span))
            opened = Opened(hello: opened?.hello ?? hello)
        }
        return opened
    }

    /// Decrypts a packet. Tries the stored keys for the packet's flow first. If they do not fit, tries keys derived
    /// from the packet's Destination Connection ID.
    ///
    /// The order matters, because the connection ID changes and the keys do not. After the server's first reply, the
    /// client sends to a connection ID that the server chose. It still uses the keys derived from its first connection
    /// ID (RFC 9001 §5.2).
    private mutating func frames(
        _ datagram: borrowing ByteView, _ place: QUICPacketPlace, _ flow: Flow
    ) -> [UInt8]? {
        let identifier = datagram.clamped(place.destination).array
        let known = exchanges[flow]
        if let known, known.version == place.version, let frames = known.keys.open(datagram, place, cipher) {
            return frames
        }
        guard identifier.count >= Self.shortestFirstIdentifier,
            known?.identifier != identifier || known?.version != place.version,
            let keys = QUICInitialKeys(identifier, version: place.version, cipher),
            let frames = keys.open(datagram, place, cipher)
        else { return nil }
        if exchanges.count >= Self.connectionLimit { exchanges.removeAll(keepingCapacity: true) }
        exchanges[flow] = Exchange(identifier: identifier, version: place.version, keys: keys)
        return frames
    }
}
