package import CausewayProtocols
package import CausewayRuntime
internal import CausewaySystem
internal import CausewayTypes

/// Lists metadata for the protocols through which content was received.
package protocol StackListing: AnyObject, Sendable {
    /// Returns one metadata object per protocol, with the transport first. Leaves out the protocols that the content's
    /// own metadata already describes.
    ///
    /// - Parameters:
    ///   - header: The header of the received datagram.
    ///   - messages: The message metadata from the protocols below the topmost one.
    func metadata(_ header: DatagramHeader?, _ messages: [any StageMetadata]) -> [NWProtocolMetadata]
}

/// Lists the metadata for a connection whose transport has no protocols above it.
extension Flow: StackListing {
    package func metadata(_ header: DatagramHeader?, _ messages: [any StageMetadata]) -> [NWProtocolMetadata] {
        guard isDatagram else { return [NWProtocolTCP.Metadata(source: self)] }
        return (header.map { [$0.makeIPMetadata()] } ?? []) + [NWProtocolUDP.Metadata()]
    }
}

/// Keeps a list of a connection's protocols after the connection has ended and released its protocol stack. The program
/// can therefore still read the metadata of these protocols.
final class StackRecord: StackListing {
    private let flow: Flow
    /// The objects that supply metadata, lowest protocol first.
    private let sources: [any MetadataSource]

    /// - Parameter top: The topmost protocol. If it is WebSocket or a framer, it is left out, because each message
    ///   already has its metadata.
    init(of channel: StackChannel, over flow: Flow, top: NWProtocolOptions?) {
        self.flow = flow
        var sources = channel.delegates.compactMap { $0 as? any MetadataSource }
        if let own = sources.firstIndex(where: { Self.describes($0, messagesOf: top) }) { sources.remove(at: own) }
        self.sources = sources.reversed()
    }

    private static func describes(_ source: any MetadataSource, messagesOf top: NWProtocolOptions?) -> Bool {
        switch source {
        case is WebSocketDelegate: top is NWProtocolWebSocket.Options
        case let framer as FramerDelegate: framer.options.definition == top?.definition
        default: false
        }
    }

    package func metadata(_ header: DatagramHeader?, _ messages: [any StageMetadata]) -> [NWProtocolMetadata] {
        let known = sources.compactMap { $0.metadata(among: messages) }
        // A stack can contain the same protocol several times. List only the topmost one, as
        // `NWConnection.metadata(definition:)` does.
        let listed = known.enumerated().filter { place, one in
            !known[(place + 1)...].contains { $0.definition == one.definition }
        }
        return flow.metadata(header, messages) + listed.map(\.element)
    }
}

/// The metadata of a received message, from all protocols below the topmost one. The metadata objects are created when
/// the program reads them.
package struct LowerProtocols: Sendable {
    private let listing: (any StackListing)?
    private let header: DatagramHeader?
    private let messages: [any StageMetadata]

    init() { (listing, header, messages) = (nil, nil, []) }

    /// - Parameter own: The metadata type of the topmost protocol. The list leaves out this metadata.
    init<Own: StageMetadata>(_ listing: any StackListing, _ received: ReceivedContent, without own: Own.Type) {
        self.listing = listing
        header = listing is Flow ? received.packet.map { DatagramHeader($0) } ?? DatagramHeader() : nil
        // The first element is the metadata of the topmost protocol.
        messages = received.metadata.first is Own ? Array(received.metadata.dropFirst()) : received.metadata
    }

    var metadata: [NWProtocolMetadata] { listing?.metadata(header, messages) ?? [] }
}

extension Flow: TCPMetadataSource {
    package var availableReceiveBuffer: UInt32 {
        withDescriptor { UInt32(clamping: Socket.bytesReadable($0) + unreadByteCount) } ?? 0
    }

    package var availableSendBuffer: UInt32 {
        withDescriptor { UInt32(clamping: Socket.bytesUnsent($0) + unsentByteCount) } ?? 0
    }

    package var subflowAddresses: [(local: NWEndpoint, remote: NWEndpoint)] {
        ((withDescriptor { Socket.subflows($0) } ?? nil) ?? []).map { (NWEndpoint($0.local), NWEndpoint($0.remote)) }
    }
}
