import CausewayBonjour
import Foundation

// An unmodified program for Foundation's `NetService`, except for the first import. It publishes an echo service, or browses for one,
// resolves it and connects to it.

final class Publisher: NSObject, NetServiceDelegate, StreamDelegate {
    let service: NetService
    private var streams: [Stream] = []

    init(name: String) {
        service = NetService(domain: "", type: "_nwecho._tcp.", name: name, port: 0)
        super.init()
        service.delegate = self
        service.setTXTRecord(NetService.data(fromTXTRecord: ["version": Data("1".utf8)]))
        service.publish(options: .listenForConnections)
    }

    func netServiceWillPublish(_ sender: NetService) { report("will publish \(sender.name)") }
    func netServiceDidPublish(_ sender: NetService) { report("published \(sender.name)") }
    func netService(_ sender: NetService, didNotPublish errorDict: [String: NSNumber]) {
        report("not published \(errorDict[NetService.errorCode] ?? 0)")
        exit(1)
    }
    func netServiceDidStop(_ sender: NetService) {
        report("stopped")
        // Wait until the goodbye is sent, then end the process.
        DispatchQueue.main.asyncAfter(deadline: .now() + 0.2) { exit(0) }
    }

    func netService(
        _ sender: NetService, didAcceptConnectionWith inputStream: InputStream, outputStream: OutputStream
    ) {
        report("accepted")
        streams += [inputStream, outputStream]
        for stream in [inputStream, outputStream] as [Stream] {
            stream.delegate = self
            stream.schedule(in: .current, forMode: .default)
            stream.open()
        }
    }

    func stream(_ stream: Stream, handle event: Stream.Event) {
        guard event == .hasBytesAvailable, let input = stream as? InputStream else { return }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = input.read(&buffer, maxLength: buffer.count)
        guard count > 0, let output = streams.last as? OutputStream else { return }
        _ = output.write(buffer, maxLength: count)
        service.stop()
    }
}

final class Seeker: NSObject, NetServiceBrowserDelegate, NetServiceDelegate, StreamDelegate {
    let browser = NetServiceBrowser()
    private var services: [NetService] = []
    private var input: InputStream?
    private var output: OutputStream?

    override init() {
        super.init()
        browser.delegate = self
        browser.searchForServices(ofType: "_nwecho._tcp.", inDomain: "")
    }

    func netServiceBrowserWillSearch(_ browser: NetServiceBrowser) { report("will search") }

    func netServiceBrowser(_ browser: NetServiceBrowser, didFind service: NetService, moreComing: Bool) {
        report("found \(service.name) \(service.type) \(service.domain)\(moreComing ? " and more" : "")")
        services.append(service)
        service.delegate = self
        service.startMonitoring()
        service.resolve(withTimeout: 5)
    }

    func netServiceBrowser(_ browser: NetServiceBrowser, didRemove service: NetService, moreComing: Bool) {
        report("gone \(service.name), known: \(services.contains(service))")
        browser.stop()
    }

    func netServiceBrowserDidStopSearch(_ browser: NetServiceBrowser) {
        report("search stopped")
        exit(0)
    }

    func netService(_ sender: NetService, didUpdateTXTRecord data: Data) {
        let version = NetService.dictionary(fromTXTRecord: data)["version"] ?? Data()
        report("version \(String(decoding: version, as: UTF8.self))")
    }

    func netServiceDidResolveAddress(_ sender: NetService) {
        guard input == nil, let address = sender.addresses?.first, sender.port > 0, sender.hostName != nil else {
            return
        }
        // The address contains the family, the port and an IPv4 or IPv6 address.
        report("resolved, \(address.count == 16 || address.count == 28)")
        sender.stop()
        guard sender.getInputStream(&input, outputStream: &output), let input, let output else { return }
        input.delegate = self
        input.schedule(in: .current, forMode: .default)
        input.open()
        output.open()
        _ = output.write(Array("hello".utf8), maxLength: 5)
    }

    func netService(_ sender: NetService, didNotResolve errorDict: [String: NSNumber]) {
        report("not resolved \(errorDict[NetService.errorCode] ?? 0)")
    }

    func stream(_ stream: Stream, handle event: Stream.Event) {
        guard event == .hasBytesAvailable, let input = stream as? InputStream else { return }
        var buffer = [UInt8](repeating: 0, count: 64)
        let count = input.read(&buffer, maxLength: buffer.count)
        if count > 0 { report("heard \(String(decoding: buffer[..<count], as: UTF8.self))") }
    }
}

func report(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

let mode = CommandLine.arguments.dropFirst().first
if mode == "--seek" || mode == "--offer" {
    Task {
        do {
            if mode == "--seek" { try await Discovery.seek() } else { try await Discovery.offer() }
            exit(0)
        } catch {
            report("failed: \(error)")
            exit(1)
        }
    }
    RunLoop.main.run()
}
if mode == "--stream" {
    Task {
        do {
            try await Streaming.talk(to: CommandLine.arguments.last ?? "")
            exit(0)
        } catch {
            report("failed: \(error)")
            exit(1)
        }
    }
    RunLoop.main.run()
}
if mode == "--routes" {
    Task {
        do {
            let words = CommandLine.arguments
            try await Routes.follow(words[2], Int(words[3]) ?? 0)
            exit(0)
        } catch {
            report("failed: \(error)")
            exit(1)
        }
    }
    RunLoop.main.run()
}
if mode == "--again" {
    Task {
        try? await Again.browse()
        exit(0)
    }
    RunLoop.main.run()
}
if mode == "--thrice" {
    let listeners = try Again.listen(CommandLine.arguments.last ?? "", count: 3)
    withExtendedLifetime(listeners) { RunLoop.main.run() }
}
if mode == "--names" {
    let type = CommandLine.arguments.last ?? ""
    Task {
        await withTaskGroup(of: ServiceDiscovery.Registration?.self) { group in
            for _ in 0..<100 {
                guard let name = readLine() else { break }
                group.addTask { try? await ServiceDiscovery.register(name, type: type, port: 4_711) }
            }
            var all: [ServiceDiscovery.Registration] = []
            for await case let registration? in group {
                report("registered \(registration.identity.name)")
                all.append(registration)
            }
            try? await Task.sleep(nanoseconds: 100_000_000_000)
            withExtendedLifetime(all) {}
        }
    }
    RunLoop.main.run()
}
if mode == "--wide" {
    let words = CommandLine.arguments
    let wideArea = WideArea()
    Task {
        do {
            guard let identity = try await WideArea.seek(words[2], words[3]) else { exit(1) }
            DispatchQueue.main.async { wideArea.resolve(identity) }
        } catch {
            report("failed: \(error)")
            exit(1)
        }
    }
    RunLoop.main.run()
}
if let mode, mode.hasPrefix("--leave-") {
    let leaving = try Leaving(String(mode.dropFirst(8)), name: CommandLine.arguments.last ?? "")
    withExtendedLifetime(leaving) { RunLoop.main.run() }
}
let program: NSObject = mode.map { Publisher(name: $0) } ?? Seeker()
withExtendedLifetime(program) { RunLoop.main.run() }
