/// Reads a frame's fields. Every method throws instead of reading beyond the end.
struct ActorFrameReader {
    private let bytes: [UInt8]
    private(set) var offset = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var remaining: Int { bytes.count - offset }

    private mutating func take(_ count: Int) throws(ActorFrameError) -> ArraySlice<UInt8> {
        guard count <= remaining else {
            throw ActorFrameError(message: "truncated: \(count) bytes expected, \(remaining) left", offset: offset)
        }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }

    mutating func skip(_ count: Int) throws(ActorFrameError) { _ = try take(count) }

    mutating func integer<Value: FixedWidthInteger & UnsignedInteger>() throws(ActorFrameError) -> Value {
        try take(Value.bitWidth / 8).reduce(0) { $0 << 8 | Value($1) }
    }

    mutating func text() throws(ActorFrameError) -> String {
        let start = offset
        let length: UInt16 = try integer()
        guard length <= ActorLimits.textByteCount else {
            throw ActorFrameError(message: "a text of \(length) bytes", offset: start)
        }
        guard let text = String(validating: try take(Int(length)), as: UTF8.self) else {
            throw ActorFrameError(message: "a text is not UTF-8", offset: start)
        }
        return text
    }

    mutating func call() throws(ActorFrameError) -> ActorCall {
        var call = ActorCall(id: try integer(), actor: try integer(), target: try text())
        let count: UInt8 = try integer()
        guard count <= ActorLimits.argumentCount else {
            throw ActorFrameError(message: "\(count) arguments", offset: offset - 1)
        }
        for _ in 0..<count {
            let length: UInt32 = try integer()
            guard let length = Int(exactly: length) else {
                throw ActorFrameError(message: "the length of an argument", offset: offset - 4)
            }
            call.arguments.append(Array(try take(length)))
        }
        return call
    }

    mutating func listing() throws(ActorFrameError) -> ActorListing {
        ActorListing(ActorListing.Name(key: try text(), type: try text()), actor: try integer())
    }

    mutating func rest() -> [UInt8] {
        defer { offset = bytes.count }
        return Array(bytes[offset...])
    }

    func end() throws(ActorFrameError) {
        guard remaining == 0 else {
            throw ActorFrameError(message: "\(remaining) bytes after the last field", offset: offset)
        }
    }
}
