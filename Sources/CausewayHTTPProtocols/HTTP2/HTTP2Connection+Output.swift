package import CausewayProtocols

internal import CausewayWire

extension HTTP2Connection {
    /// The maximum DATA payload in bytes. Even if the peer permits larger frames, they would delay the other streams
    /// (head-of-line blocking).
    private static let largestContent = HTTP2FrameReader.defaultMaximumFrameSize

    /// Removes and returns the next bytes to send: all pending control frames and at most `limit` bytes of content.
    package mutating func nextOutput(atMost limit: Int = 64 << 10) -> ByteChain? {
        guard limit > 0 else { return nil }
        var chunk = ByteChain(output.takeControl())
        while chunk.count < limit, output.window > 0, let id = schedule.first {
            appendContent(of: id, to: &chunk, atMost: limit - chunk.count)
        }
        // Content may have completed a stream, whose trailers are then queued as control frames.
        if !output.control.isEmpty, chunk.count < limit { chunk.append(output.takeControl()) }
        return chunk.isEmpty ? nil : chunk
    }

    /// Appends one DATA frame for the first stream in the schedule.
    private mutating func appendContent(of id: HTTP2StreamID, to chunk: inout ByteChain, atMost limit: Int) {
        let allowed = min(output.window, Self.largestContent, limit)
        var header = HTTP2FrameHeader(length: 0, type: .data, streamID: id)
        var content = ByteChain()
        let sent = streams.update(id) { stream -> (priority: HTTPPriority, isSendable: Bool, isDrained: Bool) in
            content = stream.queue.take(atMost: min(allowed, stream.sendWindow))
            header.length = content.count
            stream.sendWindow -= content.count
            if stream.queue.isEmpty, stream.ending == .endOfStream { header.flags = .endStream }
            stream.isScheduled = stream.isSendable
            return (stream.priority, stream.isSendable, stream.queue.isEmpty)
        }
        guard let sent else { return schedule.removeAll() }
        if sent.isSendable { schedule.sentPart(sent.priority) } else { schedule.remove(id, sent.priority) }
        output.window -= content.count
        // The peer usually answers a DATA frame with WINDOW_UPDATE frames for the stream and the connection. They cost
        // two units of the flood guard, which are restored in advance.
        floods.chores.restore(2)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(HTTP2FrameHeader.byteCount + min(content.count, ByteChain.coalescedLength))
        header.serialize(into: &bytes)
        chunk.append(bytes)
        chunk.append(content)
        guard sent.isDrained else { return }
        if header.flags.contains(.endStream) {
            endSending(id)
        } else if !sendEnding(id) {
            events.append(.drained(id))
        }
    }
}
