internal import CausewayHTTPProtocols
internal import CausewayWire
internal import Foundation

/// The stored state of a background task: a line with a checksum, followed by a property list.
struct TransferRecord: Codable, Sendable {
    /// The values that a program can change in a background task.
    struct Options: Codable, Equatable, Sendable {
        var priority: Float = 0.5
        var description: String?
        /// The earliest time at which the program permits the task to start, in seconds since 1970.
        var earliestBegin: Double?
        var clientExpectsToSend: Int64 = -1
        var clientExpectsToReceive: Int64 = -1

        init() {}

        init(_ options: TaskState.Options) {
            priority = options.priority.isNaN ? URLSessionTask.defaultPriority : min(max(options.priority, 0), 1)
            description = options.description
            let begin = options.earliestBeginDate?.timeIntervalSince1970
            earliestBegin = begin.flatMap { $0.isNaN ? nil : min(max($0, -1e11), 1e11) }
            clientExpectsToSend = options.clientExpectsToSend
            clientExpectsToReceive = options.clientExpectsToReceive
        }
    }

    /// The state of the stored response content.
    struct Content: Codable, Sendable {
        /// The `If-Range` value for a request for the rest of the content; `nil` if the rest cannot be requested
        /// separately.
        var validator: String?
        /// The total content length; `nil` if it is unknown.
        var total: Int64?
        /// The number of content bytes that are certainly on disk.
        var durable: Int64 = 0
        /// Identifies the system boot during which the content file was written. `nil` if it is unknown.
        var boot: String?
        /// Whether an upload's response was too long to store, or could not be stored.
        var isCut = false
    }

    static let maximumByteCount = 16 << 20
    private static let header = Array("causeway transfer 1 ".utf8)

    let identifier: Int
    var request: ArchivedRequest
    /// The uploaded file; `nil` for a download.
    var uploadPath: String?
    /// Resume data for an upload. It exists if the server has created a resource for the upload.
    var uploadState: Data?
    var content = Content()
    var options = Options()
    var isSuspended = true
    private var stageName = TransferRecovery.Stage.created.rawValue
    /// The time of the first start in seconds since 1970; `nil` if the task has not started.
    var started: Double?
    var response: HTTPURLResponse.Head?

    init(identifier: Int, request: URLRequest, uploadPath: String?) {
        self.identifier = identifier
        self.request = ArchivedRequest(request.values)
        self.uploadPath = uploadPath
    }

    /// The transfer's stage.
    var stage: TransferRecovery.Stage {
        get { TransferRecovery.Stage(rawValue: stageName) ?? .created }
        set { stageName = newValue.rawValue }
    }

    /// Decodes a record file; `nil` if it is damaged or has another version.
    init?(_ file: [UInt8], identifier: Int) {
        let headerCount = Self.header.count
        guard file.count > headerCount + 17, file.starts(with: Self.header), file[headerCount + 16] == 0x0A else {
            return nil
        }
        let body = Array(file[(headerCount + 17)...])
        guard file[headerCount..<(headerCount + 16)].elementsEqual(Self.sum(of: body)),
            let record = try? PropertyListDecoder().decode(Self.self, from: Data(body)),
            record.identifier == identifier, record.isSane
        else { return nil }
        self = record
    }

    /// The encoded file; `nil` if it cannot be encoded or is too long.
    var encoded: [UInt8]? {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        guard let data = try? encoder.encode(self), data.count < Self.maximumByteCount - 64 else { return nil }
        let body = Array(data)
        return Self.header + Self.sum(of: body) + [0x0A] + body
    }

    private static func sum(of bytes: [UInt8]) -> [UInt8] {
        Array(Hexadecimal.text(CacheChecksum.of(bytes)).utf8)
    }

    /// Returns whether a background transfer can load the URL: its scheme must be `http` or `https`. Other schemes are
    /// refused, because a request from a stored record could otherwise make a process read local files.
    static func supports(_ url: URL?) -> Bool { ["http", "https"].contains(url?.scheme?.lowercased()) }

    /// Whether all values are in range. A faulty program can have written wrong values with a correct checksum.
    private var isSane: Bool {
        let times = [started, options.earliestBegin].compactMap { $0 }
        return identifier > 0 && times.allSatisfy { abs($0) < 1e12 } && (0...1).contains(options.priority)
            && content.durable >= 0 && Self.supports(request.values.url)
    }
}
