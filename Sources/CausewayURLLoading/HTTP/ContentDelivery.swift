internal import Causeway
internal import CausewayHTTP
internal import CausewayWire
internal import Foundation

/// A load that delivers content to its task.
protocol DeliveringLoad: DrivenLoad {
    /// Whether the task wants more content now.
    var wantsBytes: Bool { get }
    /// Stops or resumes reading the response. Reading stops while the task wants no content. Can be called from any
    /// thread.
    func updateReading()
}

/// Delivers the content of the final response to the task: as received, decoded, or split into the parts of a
/// `multipart/x-mixed-replace` response.
struct ContentDelivery: Sendable {
    let load: any DeliveringLoad

    /// Delivers content to the given destination, which ``LoadState`` has chosen.
    func deliver(_ content: Data, to destination: LoadContent.Destination) {
        switch destination {
        case .task: load.report(.data(content))
        case .parts(let parts): split(content, parts)
        case .decoder(let decoded): return decode(decoded)
        case .newDecoder(let response, let parts):
            if startDecoding(content, of: response, parts) { return }
            load.report(.data(content))
        }
        if !load.wantsBytes { load.updateReading() }
    }

    /// Creates a decoder when the first content of a response arrives. Returns `false` if the response has no content
    /// coding. A response without content gets no decoder.
    private func startDecoding(_ content: Data, of response: HTTPURLResponse, _ parts: ReplacingParts?) -> Bool {
        do throws(DecodingFailure) {
            guard let decoder = try ContentDecoder.decoder(for: response.fields) else { return false }
            let decoded = DecodedContent(decoder, splitBy: parts)
            decoded.append(content)
            load.withState { $0.decoderMade(decoded) }
            decode(decoded)
        } catch {
            load.fail(LoadFailure(error))
        }
        return true
    }

    /// Decodes and delivers content while the task wants it. Ends the load after all content was delivered.
    func decode(_ decoded: DecodedContent) {
        do throws(DecodingFailure) {
            let progress = try decoded.pump(while: { load.wantsBytes }) { piece in
                if let parts = decoded.parts { split(piece, parts) } else { load.report(.data(piece)) }
            }
            if progress == .finished { return load.end(.finished) }
        } catch {
            return load.fail(LoadFailure(error))
        }
        load.updateReading()
    }

    /// Delivers `multipart/x-mixed-replace` content. Each part replaces the previous part, and begins with a new
    /// response.
    private func split(_ content: Data, _ parts: ReplacingParts) {
        do throws(HTTPSyntaxError) {
            for event in try parts.decode(content) {
                switch event {
                case .part(let fields):
                    let head = HTTPResponseHead(status: parts.status, fields: fields)
                    load.report(.response(HTTPURLResponse(head, to: load.request), .notAllowed))
                case .content(let bytes): load.report(.data(Data(bytes)))
                case .partEnd: break
                }
            }
        } catch {
            load.fail(
                LoadFailure(
                    .unreadableResponse, underlying: NWError.posix(.EBADMSG),
                    details: [LoadFailure.reasonKey: "\(error)"]))
        }
    }
}
