internal import CausewayImageFormats
internal import CausewaySystem
internal import Foundation

/// The bytes of an incomplete response, and the validator for requesting the remaining bytes.
struct PartialContent: Sendable {
    var bytes: [UInt8]
    /// The content's validator, sent as `If-Range`.
    var validator: String
}

/// Collects one response. Called on the session's queue.
final class ContentCollector: Sendable {
    private struct State {
        var head: ResponseHead?
        var bytes: [UInt8] = []
        var scans = JPEGScans()
        var previewCount = 0
        var failure: ImageError?
    }

    /// Maximum number of previews. Later previews take the same time to decode, but show fewer new details.
    private static let maximumPreviews = 6

    private let partial: PartialContent?
    private let limit: Int
    private let report: @Sendable (ContentUpdate) -> Void
    private let state = LockedValue(State())

    init(partial: PartialContent?, limit: Int, report: @escaping @Sendable (ContentUpdate) -> Void) {
        self.partial = partial
        self.limit = limit
        self.report = report
    }

    var sink: FetchSink { FetchSink(head: { self.begin($0) }, piece: { self.append($0) }) }

    /// The response head.
    var head: ResponseHead? { state.withLock { $0.head } }
    /// The content received so far. It begins with the content of the earlier attempt that this request continues.
    var bytes: [UInt8] { state.withLock { $0.bytes } }
    /// The error that stopped the response.
    var failure: ImageError? { state.withLock { $0.failure } }

    /// The partial content that a later attempt can continue.
    var resumable: PartialContent? {
        state.withLock { state in
            guard let head = state.head, [200, 206].contains(head.status), !state.bytes.isEmpty else { return nil }
            guard let validator = head.rangeValidator ?? (head.status == 206 ? partial?.validator : nil) else {
                return nil
            }
            return PartialContent(bytes: state.bytes, validator: validator)
        }
    }

    private func begin(_ head: ResponseHead) -> Bool {
        state.withLock { state in
            // A multipart/x-mixed-replace stream has several responses. Each new response replaces the previous one.
            state = State(head: head)
            switch head.status {
            case 200...205, 207...299: break
            case 206:
                guard let partial, head.contentRange?.start == partial.bytes.count else {
                    state.failure = ImageError(.malformed, "the server sent another range than it was asked for")
                    return false
                }
                state.bytes = partial.bytes
                state.scans.append(partial.bytes)
            default: return false
            }
            if let count = head.contentLength, count > limit - state.bytes.count {
                state.failure = ImageError(.tooLarge, "the file has \(count) bytes; the limit is \(limit)")
                return false
            }
            return true
        }
    }

    private func append(_ data: Data) -> Bool {
        let (updates, isWanted) = state.withLock { state -> ([ContentUpdate], Bool) in
            guard state.failure == nil else { return ([], false) }
            guard data.count <= limit - state.bytes.count else {
                state.failure = ImageError(.tooLarge, "the file has more than \(limit) bytes")
                return ([], false)
            }
            state.bytes += data
            let expected = state.head?.contentRange?.total ?? state.head?.contentLength
            var updates = [ContentUpdate.progress(received: state.bytes.count, expected: expected)]
            let before = state.scans.endedCount
            state.scans.append(data)
            if state.scans.isProgressive, state.scans.endedCount > before, state.previewCount < Self.maximumPreviews {
                state.previewCount += 1
                updates.append(.preview(Array(state.bytes[..<state.scans.lastEnd])))
            }
            return (updates, true)
        }
        for update in updates { report(update) }
        return isWanted
    }
}

/// A report about the content of an image that is still arriving.
enum ContentUpdate: Sendable {
    /// The number of received bytes, and the total if known.
    case progress(received: Int, expected: Int?)
    /// The bytes of a progressive image up to the end of its latest complete scan.
    case preview([UInt8])
}
