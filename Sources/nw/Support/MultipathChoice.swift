import ArgumentParser
import Causeway

/// How several paths to one host are used; the values for `--multipath`.
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
            "Use Multipath TCP, if the peer supports it.", valueName: "mode"))
    var choice: MultipathChoice?

    @Flag(
        name: .customLong("multipath-endpoints"),
        help:
            "Register the addresses of this host with the kernel's path manager while the command runs. Requires CAP_NET_ADMIN."
    )
    var givesEndpoints = false

    func validate() throws {
        if givesEndpoints, choice == nil { throw ValidationError("--multipath-endpoints requires --multipath.") }
    }

    func apply(to parameters: NWParameters) { parameters.multipathServiceType = choice?.serviceType ?? .disabled }

    /// Runs a block. With `--multipath-endpoints`, the host's addresses are registered with the kernel's path manager while the block runs.
    func whileGiven<Result>(_ body: () async throws -> Result) async throws -> Result {
        guard givesEndpoints, let choice else { return try await body() }
        let endpoints: MultipathEndpoints
        do {
            endpoints = try MultipathEndpoints(for: choice.serviceType)
        } catch {
            throw CommandFailure("cannot register the addresses with the path manager", error)
        }
        defer { endpoints.cancel() }
        return try await body()
    }
}

extension NWConnection {
    /// A text with the transport in use, such as ` over Multipath TCP`; empty without `--multipath`.
    var multipathLabel: String {
        guard parameters.multipathServiceType != .disabled else { return "" }
        let subflows = (metadata(definition: NWProtocolTCP.definition) as? NWProtocolTCP.Metadata)?.subflows ?? []
        return subflows.isEmpty ? " over TCP: the peer does not support Multipath TCP" : " over Multipath TCP"
    }
}

extension NWConnection.DataTransferReport {
    /// Each path's traffic: `wifi0: sent 1.2 MiB, received 10 bytes, retransmitted 0 bytes`.
    var pathLines: [String] {
        pathReports.map { path in
            let sent = Amounts.bytes(path.sentTransportByteCount)
            let received = Amounts.bytes(path.receivedTransportByteCount)
            let again = Amounts.bytes(path.retransmittedTransportByteCount)
            return "\(path.interface.name): sent \(sent), received \(received), retransmitted \(again)"
        }
    }
}
