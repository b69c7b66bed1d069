/// Finds the scans in a JPEG file while its bytes arrive (ITU-T T.81 §B.1). After each scan of a progressive image, a
/// better preview can be decoded.
package struct JPEGScans: Sendable {
    private enum State: Sendable {
        /// The position is between two segments. A marker begins with the next byte.
        case marker
        case code
        case length(code: UInt8, high: UInt8?)
        case segment(code: UInt8, remaining: Int)
        case entropy
        case entropyMarker
        case over
    }

    private var state = State.marker
    private var position = 0
    /// Whether the frame is progressive.
    package private(set) var isProgressive = false
    /// The number of complete scans.
    package private(set) var endedCount = 0
    /// The byte position after the latest complete scan.
    package private(set) var lastEnd = 0

    package init() {}

    /// Processes the next bytes of the file. If the file is not a JPEG file, this finds no scans.
    package mutating func append(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            if case .over = state { return }
            take(byte)
            position += 1
        }
    }

    private mutating func take(_ byte: UInt8) {
        switch state {
        case .marker: state = byte == 0xFF ? .code : .over
        case .code: begin(byte)
        case .length(let code, nil): state = .length(code: code, high: byte)
        case .length(let code, let high?):
            let count = Int(high) << 8 | Int(byte)
            state = count < 2 ? .over : after(code, remaining: count - 2)
        case .segment(let code, let remaining): state = after(code, remaining: remaining - 1)
        case .entropy: if byte == 0xFF { state = .entropyMarker }
        case .entropyMarker:
            switch byte {
            // A zero after 0xFF, and restart markers, belong to the image data. Any number of 0xFF fill bytes may
            // precede a marker.
            case 0, 0xD0...0xD7: state = .entropy
            case 0xFF: break
            default:
                endedCount += 1
                lastEnd = position - 1
                begin(byte)
            }
        case .over: break
        }
    }

    private mutating func begin(_ code: UInt8) {
        switch code {
        case 0xFF: state = .code
        case 0xD8, 0x01, 0xD0...0xD7: state = .marker
        case 0xD9, 0: state = .over
        default:
            if [0xC2, 0xC6, 0xCA, 0xCE].contains(code) { isProgressive = true }
            state = .length(code: code, high: nil)
        }
    }

    private func after(_ code: UInt8, remaining: Int) -> State {
        if remaining > 0 { return .segment(code: code, remaining: remaining) }
        return code == 0xDA ? .entropy : .marker
    }
}
