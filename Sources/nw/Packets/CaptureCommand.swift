import ArgumentParser
import CausewayPackets
import CausewaySystem
import CausewayTypes
import Synchronization

/// `nw capture`: shows or stores an interface's packets.
struct CaptureCommand: Subcommand {
    static let outline = CommandConfiguration(
        commandName: "capture",
        abstract: "Show the packets of an interface, or store them in a file.",
        discussion: """
            The words after the options are a filter in the pcap language. The kernel drops the packets that do not \
            match. At the end or on interrupt, a line on standard error reports the number of captured and dropped \
            packets.

            Requires capabilities. To run without root, run once: setcap cap_net_raw,cap_net_admin=ep /path/to/nw

            -D lists the interfaces; -r FILE shows a capture file, like nw read.

            Examples:
              nw capture -i eth0                       packets of one interface
              nw capture -i any 'icmp or arp'          packets of all interfaces
              nw capture -i eth0 -c 100 -w some.pcap   store 100 packets
              nw capture -i lo --json udp port 53      JSON for programs
              nw capture -w ring.pcap -C 100 -W 10     the last GB, in ten files
            """)

    @OptionGroup var output: PacketOutputOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("Capture on this interface; any captures on all interfaces.", valueName: "name"),
        completion: .interfaces)
    var interface = "any"

    @Option(
        name: .customShort("s"),
        help: ArgumentHelp("Capture at most BYTES of each packet (snap length).", valueName: "bytes"))
    var snapLength: Int?

    @Flag(name: .customShort("p"), help: "Do not use promiscuous mode.")
    var onlyOwn = false

    @Flag(help: "Deliver packets within 1 ms instead of 10 ms.")
    var immediate = false

    @Option(
        name: .customShort("B"),
        help: ArgumentHelp("Set the size of the kernel's ring buffer, in KiB.", valueName: "KiB"))
    var ringSize = 32_768

    @Option(
        name: .customShort("C"),
        help: ArgumentHelp("With -w: start the next file after this many megabytes.", valueName: "megabytes"))
    var fileSize: Int?

    @Option(
        name: .customShort("G"),
        help: ArgumentHelp(
            "With -w: start the next file after SECONDS; the file name may contain strftime fields such as %H.",
            valueName: "seconds"))
    var fileAge: Int?

    @Option(
        name: .customShort("W"),
        help: ArgumentHelp("Keep only the last COUNT files (-C), or exit after COUNT files (-G).", valueName: "count"))
    var fileCount: Int?

    @Flag(name: [.customShort("D"), .long], help: "List the interfaces, and exit.")
    var listInterfaces = false

    @Option(name: .customShort("r"), help: ArgumentHelp("Show the packets of FILE instead.", valueName: "file"))
    var input: String?

    var rotation: CaptureRotation {
        CaptureRotation(byteCount: fileSize.map { $0 * 1_000_000 }, seconds: fileAge, fileCount: fileCount)
    }

    @Argument(help: "Show only packets that match this filter.")
    var filter: [String] = []

    func validate() throws {
        if let snapLength, snapLength < 1 { throw ValidationError("-s must be at least 1 byte.") }
        for number in [fileSize, fileAge, fileCount] {
            if let number, !(1...1_000_000).contains(number) {
                throw ValidationError("-C, -G and -W must be 1 to 1000000.")
            }
        }
        if fileSize != nil || fileAge != nil {
            guard let file = output.store, file != "-" else {
                throw ValidationError("-C and -G require -w with a file name.")
            }
        } else if fileCount != nil {
            throw ValidationError("-W requires -C or -G.")
        }
        guard (512...4_194_304).contains(ringSize) else { throw ValidationError("-B must be 512 to 4194304 KiB.") }
    }

    func run() async throws {
        if listInterfaces { return try await reporting("capture") { try showInterfaces() } }
        if let input { return try await ReadCommand(file: input, filter: filter, output: output).run() }
        try await reporting("capture") {
            let stop = StopFlag()
            let command = self
            try await untilInterrupted { try await stop.run("nw.capture") { try command.capture(until: stop) } }
        }
    }

    private func showInterfaces() throws {
        let snapshot: NetworkSnapshot
        do { snapshot = try NetworkSnapshot.current() } catch {
            throw CommandFailure("cannot list interfaces: \(error)")
        }
        let listing = InterfaceListing(snapshot)
        if output.json { return printLine(PrintableText(json: listing.interfaces)) }
        for interface in listing.interfaces {
            printLine("\(interface.index).\(interface.name) [\(interface.flags.joined(separator: ", "))]")
        }
        printLine("\(listing.interfaces.count + 1).any (all interfaces)")
    }

    private func capture(until stop: StopFlag) throws {
        try CaptureSession(self).run(until: stop)
    }
}

/// A flag that stops blocking work. Any thread may set the flag. The flag is never cleared.
final class StopFlag: Sendable {
    private let mark = Atomic<Bool>(false)
    var isSet: Bool { mark.load(ordering: .relaxed) }
    func set() { mark.store(true, ordering: .relaxed) }

    /// Runs blocking work on its own thread. If the task is cancelled, for example by SIGINT, sets the flag. The work checks the flag and
    /// ends with the results so far.
    func run(_ name: String, _ work: @escaping @Sendable () throws -> Void) async throws {
        let outcome = LockedValue<Result<Void, any Error>>(.success(()))
        let shared = Outcome(outcome)
        await withTaskCancellationHandler {
            await FileThread(name).finish {
                let result = Result { try work() }
                shared.value.withLock { $0 = result }
            }
        } onCancel: {
            set()
        }
        try shared.value.withLock { $0 }.get()
    }

    private final class Outcome: Sendable {
        let value: LockedValue<Result<Void, any Error>>
        init(_ value: consuming LockedValue<Result<Void, any Error>>) { self.value = value }
    }
}
