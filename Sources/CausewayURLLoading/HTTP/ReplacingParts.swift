internal import Causeway
internal import CausewayProtocols
internal import CausewaySystem
internal import CausewayWire
internal import Foundation

/// Splits `multipart/x-mixed-replace` content into its parts. In this media type, each part replaces the part before
/// it.
final class ReplacingParts: Sendable {
    /// The response status, which applies to all parts.
    let status: Int
    private let decoder: LockedValue<MultipartDecoder>

    /// Creates a decoder for `multipart/x-mixed-replace` content. Returns `nil` for other content.
    ///
    /// Also returns `nil` if the task needs the content as a whole, for example in a file.
    init?(_ head: HTTPResponseHead, for outlet: TaskPlan.Outlet) {
        switch outlet {
        case .delegate, .handler: break
        case .file, .bytes, .webSocket, .stream: return nil
        }
        // Parsing the media type needs an allocation. To avoid it for most responses, first check whether the type
        // begins with "M".
        guard let index = head.fields.index(of: "Content-Type"), let first = head.fields[index].value.first,
            first & 0xDF == UInt8(ascii: "M"), let type = MediaType(parsing: Array(head.fields[index].value)[...]),
            type.essence == "multipart/x-mixed-replace", let boundary = MultipartBoundary.of(type)
        else { return nil }
        // The number of parts is not limited, because a server can send parts for as long as it likes.
        var limits = MultipartDecoder.Limits()
        limits.partCount = .max
        status = head.status
        decoder = LockedValue(MultipartDecoder(boundary, limits: limits))
    }

    func decode(_ content: Data) throws(HTTPSyntaxError) -> [MultipartDecoder.Event] {
        let result = decoder.withLock { decoder -> Result<[MultipartDecoder.Event], HTTPSyntaxError> in
            var events: [MultipartDecoder.Event] = []
            do throws(HTTPSyntaxError) {
                try decoder.decode(Array(content)[...], into: &events)
                return .success(events)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
