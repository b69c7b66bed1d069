internal import CausewayProtocols
package import CausewayRuntime
internal import CausewayTypes
package import FoundationEssentials

/// An element that makes messages of what was received.
package protocol MessageElement: MessageProtocol {
    /// - Parameter options: Those of the element, as the stack keeps them.
    static func message(
        _ received: ReceivedContent, _ options: NWProtocolOptions?
    ) throws -> Message<ContentType>
}

extension UDP: MessageElement {
    package static func message(_ received: ReceivedContent, _ options: NWProtocolOptions? = nil) -> Message<Data> {
        let header = received.packet.map { DatagramHeader($0) } ?? DatagramHeader()
        return (received.data ?? Data(), Metadata(header: header))
    }
}

extension TLV: MessageElement {
    package static func message(_ received: ReceivedContent, _ options: NWProtocolOptions?) -> Message<Data> {
        let header = received.metadata(of: TLVMetadata.self) ?? TLVMetadata()
        let metadata = Metadata(
            type: Int(clamping: header.type), length: Int(clamping: header.length), isComplete: received.isComplete,
            lastMessage: received.isFinal, other: [])
        return (received.data ?? Data(), metadata)
    }
}

extension Coder: MessageElement {
    package static func message(
        _ received: ReceivedContent, _ options: NWProtocolOptions?
    ) throws -> Message<Receiving> {
        let value = try coder(in: options).makeDecoder().decode(Receiving.self, from: received.data ?? Data())
        let metadata = Metadata(isComplete: received.isComplete, lastMessage: received.isFinal, other: [])
        return (value, metadata)
    }

    /// The coder that the program gave to the element. The options hold it, for parameters outlive elements.
    static func coder(in options: NWProtocolOptions?) -> CoderType {
        (options as? CoderOptions)?.coder as? CoderType ?? CoderType()
    }
}

extension Framer: MessageElement {
    package static func message(_ received: ReceivedContent, _ options: NWProtocolOptions?) -> Message<Data> {
        let message =
            received.metadata(of: FramerMetadata.self)?.message ?? NWProtocolFramer.Message(definition: T.definition)
        let metadata = Metadata(
            framer: message, isComplete: received.isComplete, lastMessage: received.isFinal, other: [])
        return (received.data ?? Data(), metadata)
    }
}

extension WebSocket: MessageElement {
    package static func message(_ received: ReceivedContent, _ options: NWProtocolOptions?) -> Message<Data> {
        let stage = received.metadata(of: WebSocketMetadata.self) ?? WebSocketMetadata(opcode: .binary)
        let object = NWProtocolWebSocket.Metadata(stage)
        let metadata = Metadata(
            opcode: object.opcode, closeCode: object.opcode == .close ? object.closeCode : nil,
            isComplete: received.isComplete, lastMessage: received.isFinal, other: [])
        return (received.data ?? Data(), metadata)
    }
}

extension ReceivedContent {
    fileprivate func metadata<Metadata: StageMetadata>(of type: Metadata.Type) -> Metadata? {
        for one in metadata { if let found = one as? Metadata { return found } }
        return nil
    }
}
