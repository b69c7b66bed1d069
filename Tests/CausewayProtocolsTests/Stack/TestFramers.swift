import CausewayProtocols

/// The methods that a program would write for a framer, in a form for tests.
protocol TestFramer {
    mutating func start(_ stage: inout FramerStage) -> Bool
    mutating func input(_ stage: inout FramerStage) -> Int
    mutating func output(_ stage: inout FramerStage, _ call: FramerCall)
    mutating func wakeUp(_ stage: inout FramerStage)
}

extension TestFramer {
    mutating func start(_ stage: inout FramerStage) -> Bool { true }
    mutating func wakeUp(_ stage: inout FramerStage) {}

    /// Handles a call from the stage.
    mutating func answer(_ call: FramerCall, _ stage: inout FramerStage) {
        switch call.kind {
        case .start: stage.startEnded(isReady: start(&stage))
        case .input: stage.inputEnded(wanting: input(&stage))
        case .output:
            output(&stage, call)
            stage.outputEnded()
        case .wakeUp:
            wakeUp(&stage)
            stage.wakeUpEnded()
        case .stop: stage.stopEnded(isDone: true)
        case .cleanup: stage.cleanupEnded()
        }
    }
}

struct LengthMetadata: StageMetadata, Equatable { var tag: UInt8 }

/// A test framer with a header of six bytes. Four bytes contain the length, one byte marks the end of the message, and
/// one byte is metadata. Content is passed on without a copy.
struct LengthFramer: TestFramer {
    static let headerLength = 6
    var usesHandshake = false
    private var isGreeted = false

    init(usesHandshake: Bool = false) { self.usesHandshake = usesHandshake }

    mutating func start(_ stage: inout FramerStage) -> Bool {
        guard usesHandshake else { return true }
        stage.write(ByteChain([0x47, 0x4F]))
        return false
    }

    mutating func input(_ stage: inout FramerStage) -> Int {
        if usesHandshake, !isGreeted {
            let window = stage.inputWindow(minimum: 2, maximum: 2)
            guard window.meetsMinimum else { return 2 }
            stage.advanceInput(by: 2)
            isGreeted = true
            stage.markReady()
        }
        while true {
            let window = stage.inputWindow(minimum: Self.headerLength, maximum: Self.headerLength)
            guard window.meetsMinimum else { return Self.headerLength }
            let header = Array(window.bytes)
            stage.advanceInput(by: Self.headerLength)
            let length = header[..<4].reduce(0) { $0 << 8 | Int($1) }
            let isWhole = stage.deliverNext(
                length, metadata: [LengthMetadata(tag: header[5])], endsMessage: header[4] == 1)
            if !isWhole { return 0 }
        }
    }

    mutating func output(_ stage: inout FramerStage, _ call: FramerCall) {
        let tag = call.metadata.compactMap { $0 as? LengthMetadata }.first?.tag ?? 0
        let length = (0..<4).map { UInt8(truncatingIfNeeded: call.length >> (24 - 8 * $0)) }
        stage.write(ByteChain(length + [call.isComplete ? 1 : 0, tag]))
        _ = stage.writeNext(call.length)
    }
}

/// A framer that uses 0x7E as the end of a message. 0x7D escapes these two bytes. The framer copies and changes all
/// content.
struct EscapeFramer: TestFramer {
    private var isEscaped = false

    mutating func input(_ stage: inout FramerStage) -> Int {
        while true {
            let window = stage.inputWindow(minimum: 1, maximum: 1000)
            guard window.meetsMinimum else { return 0 }
            var content: [UInt8] = []
            var taken = 0
            var ends = false
            for byte in window.bytes {
                taken += 1
                if isEscaped {
                    content.append(byte ^ 0x20)
                    isEscaped = false
                } else if byte == 0x7D {
                    isEscaped = true
                } else if byte == 0x7E {
                    ends = true
                    break
                } else {
                    content.append(byte)
                }
            }
            stage.advanceInput(by: taken)
            if ends || !content.isEmpty { stage.deliver(ByteChain(content), metadata: [], endsMessage: ends) }
        }
    }

    mutating func output(_ stage: inout FramerStage, _ call: FramerCall) {
        var bytes: [UInt8] = []
        while true {
            let window = stage.outputWindow(minimum: 1, maximum: 512)
            guard window.meetsMinimum else { break }
            for byte in window.bytes {
                if byte == 0x7D || byte == 0x7E { bytes += [0x7D, byte ^ 0x20] } else { bytes.append(byte) }
            }
            stage.advanceOutput(by: window.bytes.count)
        }
        if call.isComplete { bytes.append(0x7E) }
        stage.write(ByteChain(bytes))
    }
}
