package import CausewayProtocols
package import CausewaySystem
package import CausewayTypes
package import FoundationEssentials

/// The result of one receive call.
package struct ReceivedContent: Sendable {
    package var data: Data?
    /// The number of content bytes that are passed without a copy to the protocols above the transport. Such bytes stay
    /// in the thread's scratch buffer until the completion returns, and `data` is empty.
    var lentCount = 0
    /// The kernel's information about a datagram.
    package var packet: PacketMark?
    /// Whether the peer will send no more content.
    package var isFinal = false
    /// Whether this content is the last of its message or of the stream.
    package var isComplete = false
    package var error: Failure?
    /// Message metadata from the protocols above the transport.
    package var metadata: [any StageMetadata] = []

    package init(
        data: Data? = nil, packet: PacketMark? = nil, isFinal: Bool = false, isComplete: Bool = false,
        error: Failure? = nil, metadata: [any StageMetadata] = []
    ) {
        self.metadata = metadata
        self.data = data
        self.packet = packet
        self.isFinal = isFinal
        self.isComplete = isComplete
        self.error = error
    }
}

extension ReceivedContent {
    /// The bytes passed without a copy. Valid only on the completion's thread, and only until the next read on that
    /// thread.
    var lent: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: ThreadLocal.scratch[..<lentCount]) }

    /// A copy of the content that stays valid after the completion handler has returned.
    var kept: ReceivedContent {
        guard lentCount > 0 else { return self }
        var content = self
        (content.data, content.lentCount) = (Data(lent), 0)
        return content
    }

    /// The result that a task receives. If content comes together with an error, the task gets only the content now.
    /// The next receive call reports the error.
    var forTask: Result<StreamPiece, Failure> {
        if let error, data == nil { return .failure(error) }
        return .success(StreamPiece(data: data, isFinal: isFinal))
    }
}

package typealias ReceiveCompletion = @Sendable (ReceivedContent) -> Void
package typealias SendCompletion = @Sendable (Failure?) -> Void
