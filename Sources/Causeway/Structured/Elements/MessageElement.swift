internal import CausewayProtocols
package import CausewayRuntime
internal import CausewayTypes
internal import CausewayWire
package import FoundationEssentials

/// An element that creates messages from received content.
package protocol MessageElement: MessageProtocol {
    /// Creates a message from received content.
    ///
    /// - Parameters:
    ///   - options: The element's options in the stack.
    ///   - stack: Lists the protocols below.
    static func message(
        _ received: ReceivedContent, _ options: NWProtocolOptions?, _ stack: any StackListing
    ) throws -> Message<ContentType>
}

extension UDP: MessageElement {
    package static func message(
        _ received: ReceivedContent, _ options: NWProtocolOptions?, _ stack: any StackListing
    ) -> Message<Data> {
        message(received)
    }

    package static func message(_ received: ReceivedContent) -> Message<Data> {
        let header = received.packet.map { DatagramHeader($0) } ?? DatagramHeader()
        return (received.data ?? Data(), Metadata(header: header))
    }
}

extension TLV: MessageElement {
    package static func message(
        _ received: ReceivedContent, _ options: NWProtocolOptions?, _ stack: any StackListing
    ) -> Message<Data> {
        let header = received.metadata(of: TLVMetadata.self) ?? TLVMetadata()
        let metadata = Metadata(
            type: Int(clamping: header.type), length: Int(clamping: header.length), isComplete: received.isComplete,
            lastMessage: received.isFinal, lower: LowerProtocols(stack, received, without: TLVMetadata.self))
        return (received.data ?? Data(), metadata)
    }
}

extension Coder: MessageElement {
    package static func message(
        _ received: ReceivedContent, _ options: NWProtocolOptions?, _ stack: any StackListing
    ) throws -> Message<Receiving> {
        let value = try decode(received.data ?? Data(), coder(in: options))
        let metadata = Metadata(
            isComplete: received.isComplete, lastMessage: received.isFinal,
            lower: LowerProtocols(stack, received, without: TLVMetadata.self))
        return (value, metadata)
    }

    /// Decodes a message. Foundation limits the depth of JSON, but not that of a property list.
    static func decode(_ data: Data, _ coder: CoderType) throws -> Receiving {
        let decoder = coder.makeDecoder()
        guard !(decoder is PropertyListDecoder) || PropertyListBounds.contain([UInt8](data)) else {
            let text = "The property list is malformed, or too deep or large."
            throw DecodingError.dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: text))
        }
        return try decoder.decode(Receiving.self, from: data)
    }

    /// Returns the coder, which creates encoders and decoders. A coder is stored in the options of its stack element,
    /// because a connection keeps the options but not the element.
    static func coder(in options: NWProtocolOptions?) -> CoderType {
        (options as? CoderOptions)?.coder as? CoderType ?? CoderType()
    }
}

extension Framer: MessageElement {
    package static func message(
        _ received: ReceivedContent, _ options: NWProtocolOptions?, _ stack: any StackListing
    ) -> Message<Data> {
        let message =
            received.metadata(of: FramerMetadata.self)?.message ?? NWProtocolFramer.Message(definition: T.definition)
        let lower = LowerProtocols(stack, received, without: FramerMetadata.self)
        return (received.data ?? Data(), Metadata(framer: message, received, lower))
    }
}

extension WebSocket: MessageElement {
    package static func message(
        _ received: ReceivedContent, _ options: NWProtocolOptions?, _ stack: any StackListing
    ) -> Message<Data> {
        let stage = received.metadata(of: WebSocketMetadata.self) ?? WebSocketMetadata(opcode: .binary)
        let object = NWProtocolWebSocket.Metadata(stage)
        let metadata = Metadata(
            opcode: object.opcode, closeCode: object.opcode == .close ? object.closeCode : nil,
            isComplete: received.isComplete, lastMessage: received.isFinal,
            lower: LowerProtocols(stack, received, without: WebSocketMetadata.self))
        return (received.data ?? Data(), metadata)
    }
}

extension ReceivedContent {
    fileprivate func metadata<Metadata: StageMetadata>(of type: Metadata.Type) -> Metadata? {
        for one in metadata { if let found = one as? Metadata { return found } }
        return nil
    }
}
