import Causeway
import CausewayHTTP
import CausewayHTTPProtocols
import CausewayProtocols
import CausewayWire
import Dispatch
import FoundationEssentials
import Synchronization

/// A request's content from the command line.
enum RequestContent: Sendable {
    case none
    case data(Data)
    case file(String)
    /// Standard input, which can be sent only once.
    case standardInput
    /// A form whose files are read while it is sent.
    case form(RequestForm)

    var isPresent: Bool { if case .none = self { false } else { true } }

    /// Whether the content can be sent again, for example after a redirect.
    var isRepeatable: Bool { if case .standardInput = self { false } else { true } }

    /// The bytes, if they are in memory.
    var bytes: [UInt8]? {
        switch self {
        case .none: []
        case .data(let data): Array(data)
        case .file, .standardInput, .form: nil
        }
    }

    /// Opens the content for one transmission.
    func body() throws -> HTTPRequestBody {
        switch self {
        case .none: return .none
        case .data(let data): return .data(data)
        case .standardInput: return .stream(FileBodySource(.standardInput), length: nil)
        case .form(let form): return .stream(FormBodySource(form.content), length: Int(form.content.count))
        case .file(let path):
            let file: OpenFile
            do { file = try OpenFile(reading: path) } catch {
                throw HTTPCommandFailure(.read, "cannot read \(path): \(describe(error))")
            }
            guard case .regular(let count) = file.kind else { return .stream(FileBodySource(file), length: nil) }
            return .stream(FileBodySource(file), length: Int(count))
        }
    }
}

/// Reads a file or standard input in chunks. The reads run on a separate queue, because a read can block.
final class FileBodySource: HTTPBodySource {
    /// The number of bytes to read at a time.
    private static let chunk = 256 << 10

    private let file: OpenFile
    /// A queue with its own thread, because a read can block for hours. Dispatch gives this queue its own thread,
    /// because the queue has no target queue.
    private let queue = DispatchQueue(label: "nw.http.content")
    private let isStopped = Atomic(false)

    init(_ file: consuming OpenFile) { self.file = file }

    func next(_ completion: @escaping @Sendable (HTTPBodyPiece) -> Void) {
        queue.async { [self] in
            guard !isStopped.load(ordering: .relaxed) else { return }
            do {
                if let content = try file.readChunk(atMost: Self.chunk) {
                    completion(.content(content))
                } else {
                    completion(.end(FieldSection()))
                }
            } catch {
                completion(.failure(error))
            }
        }
    }

    func stop() { isStopped.store(true, ordering: .relaxed) }
}

/// Reads the content of a form in chunks. Uses a separate queue, because a read can block.
final class FormBodySource: HTTPBodySource {
    private let reader: MultipartReader
    private let queue = DispatchQueue(label: "nw.http.form")
    private let isStopped = Atomic(false)

    init(_ content: MultipartContent) { reader = MultipartReader(content) }

    func next(_ completion: @escaping @Sendable (HTTPBodyPiece) -> Void) {
        queue.async { [self] in
            guard !isStopped.load(ordering: .relaxed) else { return }
            do throws(MultipartFailure) {
                completion(try reader.read(atMost: 256 << 10).map { .content($0) } ?? .end(FieldSection()))
            } catch {
                completion(.failure(error))
            }
        }
    }

    func stop() { isStopped.store(true, ordering: .relaxed) }
}

extension HTTPConversation.Start {
    /// The request as a curl command line, with its credentials.
    var curlCommand: String {
        let shown: CurlCommand.Content =
            switch content {
            case .none: .none
            case .data(let data): .bytes(Array(data))
            case .file(let path): .file(path)
            case .standardInput: .standardInput
            case .form(let form): .form(form.items.flatMap(\.curlWords))
            }
        var request = request
        // For a form, leave out the request's media type. It contains this command's boundary, but curl chooses its own
        // boundary.
        if case .form = content { request.fields.removeAll("Content-Type") }
        if let credential, sendsCredentialFirst, let value = BasicAuthentication.authorization(credential) {
            request.fields.set("Authorization", value)
        }
        return CurlCommand(
            method: request.method, target: request.target.description, fields: request.fields, content: shown
        ).text(showsSecrets: true)
    }
}
