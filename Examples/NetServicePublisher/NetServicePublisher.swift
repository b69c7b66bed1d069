// Shows NetService with its delegate in a run loop, which publishes a service: swift run NetServicePublisher NAME
import CausewayBonjour
import Foundation

final class Publisher: NetServiceDelegate {
    func netServiceWillPublish(_ sender: NetService) { print("publishing \(sender.name)") }

    // The name differs from the requested one if that was in use.
    func netServiceDidPublish(_ sender: NetService) { print("published as \(sender.name), port \(sender.port)") }

    func netService(_ sender: NetService, didNotPublish errorDict: [String: NSNumber]) {
        print("not published: \(errorDict)")
        exit(1)
    }

    func netServiceDidStop(_ sender: NetService) { print("stopped") }

    func netService(
        _ sender: NetService, didAcceptConnectionWith inputStream: InputStream, outputStream: OutputStream
    ) {
        print("a client connected")
        inputStream.close()
        outputStream.close()
    }
}

@main
enum NetServicePublisher {
    static func main() {
        guard CommandLine.arguments.count <= 2 else {
            print("usage: NetServicePublisher [NAME]")
            exit(64)
        }
        let publisher = Publisher()
        let name = CommandLine.arguments.dropFirst().first ?? ""
        let service = NetService(domain: "", type: "_greeting._tcp", name: name, port: 0)
        service.delegate = publisher
        _ = service.setTXTRecord(NetService.data(fromTXTRecord: ["language": Data("en".utf8)]))
        service.publish(options: .listenForConnections)
        withExtendedLifetime(publisher) { RunLoop.current.run() }
    }
}
