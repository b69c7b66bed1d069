// Shows a multicast group, in which all hosts on one network receive all typed lines: swift run MulticastChat NAME
import Causeway
import Foundation

@main
enum MulticastChat {
    static func main() throws {
        guard CommandLine.arguments.count <= 2 else {
            print("usage: MulticastChat [NAME]")
            exit(64)
        }
        let name = CommandLine.arguments.dropFirst().first ?? "user"
        let descriptor = try NWMulticastGroup(for: [.hostPort(host: "239.7.7.7", port: 7777)])
        let parameters = NWParameters.udp
        // Several programs on one host can share the port.
        parameters.allowLocalEndpointReuse = true
        let group = NWConnectionGroup(with: descriptor, using: parameters)
        group.setReceiveHandler(maximumMessageSize: 1_400) { message, content, _ in
            let sender = message.remoteEndpoint.map { "\($0)" } ?? "?"
            print("\(sender)  \(String(decoding: content ?? Data(), as: UTF8.self))")
            // A reply is sent only to the sender of the message.
            if content == Data("hello".utf8) { message.reply(content: Data("\(name) greets you".utf8)) }
        }
        group.stateUpdateHandler = { state in
            switch state {
            case .waiting(let error): print("No network supports the group: \(error)")
            case .failed(let error):
                print("Cannot join: \(error)")
                exit(1)
            default: break
            }
        }
        group.start(queue: DispatchQueue(label: "chat"))
        print("Type a line to send it to the group. \"hello\" gets a reply.")
        while let line = readLine() {
            let text = line == "hello" ? line : "\(name): \(line)"
            group.send(content: Data(text.utf8)) { error in
                if let error { print("Not sent: \(error)") }
            }
        }
        group.cancel()
    }
}
