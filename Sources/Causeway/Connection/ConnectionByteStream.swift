package import CausewayTypes
package import FoundationEssentials

/// A started connection as a ``ByteStream``.
package struct ConnectionByteStream: ByteStream {
    private let connection: NWConnection

    package init(_ connection: NWConnection) { self.connection = connection }

    package func receive(atMost limit: Int, _ completion: @escaping @Sendable (ByteArrival) -> Void) {
        connection.receive(minimumIncompleteLength: 1, maximumLength: limit) { content, context, isComplete, error in
            let isEnd = isComplete && context?.isFinal ?? true
            completion(ByteArrival(content ?? Data(), isEnd: isEnd && error == nil, error: error))
        }
    }

    package func send(_ content: Data, isFinal: Bool, _ completion: @escaping @Sendable (NWError?) -> Void) {
        guard isFinal else { return connection.send(content, passing: completion) }
        connection.send(
            content: nil, contentContext: .finalMessage, isComplete: true, completion: .contentProcessed(completion))
    }

    package func close(isInterrupted: Bool) {
        if isInterrupted { connection.forceCancel() } else { connection.cancel() }
    }
}
