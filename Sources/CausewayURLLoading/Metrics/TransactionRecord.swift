internal import Causeway
internal import Foundation

/// The metrics of one request and its response while they are collected.
struct TransactionRecord: Sendable {
    /// The start and end dates for each phase. A date is `nil` if the phase did not take place or did not end.
    struct Dates: Sendable {
        var fetchStart: Date?
        var domainLookup: DatePair = DatePair()
        var connect: DatePair = DatePair()
        var secureConnection: DatePair = DatePair()
        var request: DatePair = DatePair()
        var response: DatePair = DatePair()
    }

    /// A phase's start and end dates.
    struct DatePair: Sendable {
        var start: Date?
        var end: Date?
    }

    /// Byte counts.
    struct Counts: Sendable {
        var requestHeader: Int64 = 0
        var requestBody: Int64 = 0
        var requestBodyBeforeEncoding: Int64 = 0
        var responseHeader: Int64 = 0
        var responseBody: Int64 = 0
        var responseBodyAfterDecoding: Int64 = 0
    }

    /// The transaction's connection.
    struct Connection: Sendable {
        var protocolName: String?
        var local: (address: String, port: Int)?
        var remote: (address: String, port: Int)?
        var tlsVersion: tls_protocol_version_t?
        var cipherSuite: tls_ciphersuite_t?
        var resolution = URLSessionTaskMetrics.DomainResolutionProtocol.unknown
        var traits: Traits = []
    }

    /// Properties of the connection and of the network path that it uses.
    struct Traits: OptionSet, Sendable {
        let rawValue: UInt8
        static let proxied = Traits(rawValue: 1 << 0)
        static let reused = Traits(rawValue: 1 << 1)
        static let cellular = Traits(rawValue: 1 << 2)
        static let expensive = Traits(rawValue: 1 << 3)
        static let constrained = Traits(rawValue: 1 << 4)
        static let multipath = Traits(rawValue: 1 << 5)
    }

    var request: URLRequest
    var response: URLResponse?
    var fetchType = URLSessionTaskMetrics.ResourceFetchType.unknown
    var dates = Dates()
    var counts = Counts()
    var connection = Connection()
}

extension TransactionRecord {
    /// Begins an exchange's metrics.
    init(loading request: URLRequest) {
        self.init(request: request)
        fetchType = .networkLoad
        dates.fetchStart = Date()
    }
}
