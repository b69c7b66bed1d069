/// A malformed frame.
package struct ActorFrameError: Error, Equatable, Sendable {
    package var message: String
    /// The byte offset in the frame.
    package var offset: Int
}

extension ActorFrame {
    private enum Kind: UInt8 {
        case hello = 1, call, reply, cancel, publish, withdraw
    }

    private enum Result: UInt8 {
        case void = 0, value, thrown, described, refused
    }

    /// The encoded frame. Texts over 1,024 bytes are cut.
    package var bytes: [UInt8] {
        var output = ActorFrameWriter()
        switch self {
        case .hello(let version, let wantsAnswer):
            output.append(Kind.hello.rawValue)
            output.append(version)
            output.append(wantsAnswer ? 1 : 0 as UInt8)
        case .call(let call):
            output.append(Kind.call.rawValue)
            output.append(call)
        case .reply(let call, let reply):
            output.append(Kind.reply.rawValue)
            output.append(call)
            Self.write(reply, &output)
        case .cancel(let call):
            output.append(Kind.cancel.rawValue)
            output.append(call)
        case .publish(let listing):
            output.append(Kind.publish.rawValue)
            output.append(listing)
        case .withdraw(let listing):
            output.append(Kind.withdraw.rawValue)
            output.append(listing)
        case .skipped(let type):
            output.append(type)
        }
        return output.bytes
    }

    private static func write(_ reply: ActorReply, _ output: inout ActorFrameWriter) {
        switch reply {
        case .void:
            output.append(Result.void.rawValue)
        case .value(let value):
            output.append(Result.value.rawValue)
            output.append(rest: value)
        case .thrown(let error):
            output.append(Result.thrown.rawValue)
            output.append(error.type)
            output.append(error.description)
            output.append(rest: error.payload)
        case .described(let text):
            output.append(Result.described.rawValue)
            output.append(text)
        case .refused(let refusal, let text):
            output.append(Result.refused.rawValue)
            output.append(refusal.rawValue)
            output.append(text)
        }
    }

    /// Decodes a frame. Bytes after the frame's final field are an error, except in a greeting.
    package init(_ bytes: [UInt8]) throws(ActorFrameError) {
        var input = ActorFrameReader(bytes)
        guard Self.owns(bytes) else { throw ActorFrameError(message: "not a frame of an actor system", offset: 0) }
        try input.skip(Self.magic.count)
        let type: UInt8 = try input.integer()
        switch Kind(rawValue: type) {
        case .hello:
            let (version, flags): (UInt8, UInt8) = (try input.integer(), try input.integer())
            self = .hello(version: version, wantsAnswer: flags & 1 == 1)
        case .call: self = .call(try input.call())
        case .reply: self = .reply(call: try input.integer(), try Self.reply(&input))
        case .cancel: self = .cancel(call: try input.integer())
        case .publish: self = .publish(try input.listing())
        case .withdraw: self = .withdraw(try input.listing())
        case nil:
            guard type >= 0x80 else { throw ActorFrameError(message: "unknown frame type \(type)", offset: 4) }
            self = .skipped(type)
            return
        }
        // A greeting may contain more fields than this version knows. Ignore them, because later versions may add
        // fields.
        if case .hello = self { return }
        try input.end()
    }

    private static func reply(_ input: inout ActorFrameReader) throws(ActorFrameError) -> ActorReply {
        let offset = input.offset
        let kind: UInt8 = try input.integer()
        switch Result(rawValue: kind) {
        case .void: return .void
        case .value: return .value(input.rest())
        case .thrown:
            return .thrown(
                ActorThrownError(type: try input.text(), description: try input.text(), payload: input.rest()))
        case .described: return .described(try input.text())
        case .refused:
            let number: UInt8 = try input.integer()
            // A peer with a later version of the protocol may send a reason that is unknown here. The reply still means
            // that the peer refused the call.
            return .refused(ActorRefusal(rawValue: number) ?? .unsupported, try input.text())
        case nil: throw ActorFrameError(message: "unknown kind of reply \(kind)", offset: offset)
        }
    }
}
