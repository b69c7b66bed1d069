import ArgumentParser
import Causeway

/// The mode in which several paths to one host are used; the values of `--multipath`.
enum MultipathChoice: String, CaseIterable, ExpressibleByArgument {
    case handover, interactive, aggregate

    var serviceType: NWParameters.MultipathServiceType {
        switch self {
        case .handover: .handover
        case .interactive: .interactive
        case .aggregate: .aggregate
        }
    }
}

/// The options `--multipath` and `--multipath-endpoints`.
struct MultipathOptions: ParsableArguments {
    @Option(
        name: .customLong("multipath"),
        help: ArgumentHelp(
            "Multipath TCP, where the peer speaks it: handover, interactive or aggregate.", valueName: "mode"))
    var choice: MultipathChoice?

    @Flag(
        name: .customLong("multipath-endpoints"),
        help: "Meanwhile give the kernel's path manager the addresses of this host, for which it takes CAP_NET_ADMIN.")
    var givesEndpoints = false

    func validate() throws {
        if givesEndpoints, choice == nil { throw ValidationError("--multipath-endpoints needs --multipath.") }
    }

    func apply(to parameters: NWParameters) { parameters.multipathServiceType = choice?.serviceType ?? .disabled }

    /// Runs a block. With `--multipath-endpoints`, the host's addresses are registered with the kernel's path manager while the block runs.
    func whileGiven<Result>(_ body: () async throws -> Result) async throws -> Result {
        guard givesEndpoints, let choice else { return try await body() }
        let endpoints: MultipathEndpoints
        do {
            endpoints = try MultipathEndpoints(for: choice.serviceType)
        } catch {
            throw CommandFailure("--multipath-endpoints", error)
        }
        defer { endpoints.cancel() }
        return try await body()
    }
}

extension NWConnection {
    /// The transport in use: ` over Multipath TCP`, or TCP if the peer does not support it; empty without `--multipath`.
    var multipathLabel: String {
        guard parameters.multipathServiceType != .disabled else { return "" }
        let subflows = (metadata(definition: NWProtocolTCP.definition) as? NWProtocolTCP.Metadata)?.subflows ?? []
        return subflows.isEmpty ? " over TCP: Multipath TCP is not spoken at both ends" : " over Multipath TCP"
    }
}

extension NWConnection.DataTransferReport {
    /// The traffic of each path: `wifi0: sent 1.2 MiB, received 10 bytes, sent again 0 bytes`.
    var pathLines: [String] {
        pathReports.map { path in
            let sent = Amounts.bytes(path.sentTransportByteCount)
            let received = Amounts.bytes(path.receivedTransportByteCount)
            let again = Amounts.bytes(path.retransmittedTransportByteCount)
            return "\(path.interface.name): sent \(sent), received \(received), sent again \(again)"
        }
    }
}
