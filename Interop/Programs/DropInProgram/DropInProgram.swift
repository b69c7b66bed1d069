import CausewayStreams
import Dispatch
import Foundation
import OwnNames
import Security
import SystemConfiguration

/// An older program that follows reachability on a queue and in a run loop. It prints each callback.
///
/// - `names`: prints the types of its library, and the number of the system's authorities.
/// - `follow NAME`: prints the flags of a destination, then each callback on a queue and in the main run loop.
@main
enum DropInProgram {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        switch arguments.first {
        case "names": printNames()
        case "follow": Follower(arguments.last ?? "").run()
        default: exit(64)
        }
    }

    /// Prints values of types whose names occur in this program.
    ///
    /// All these names belong to this library: the drop-in modules export only their own names.
    static func printNames() {
        let socket = WebSocket(url: "ws://example.com")
        print(type(of: socket), socket.url, TCP.plain, UDP.plain, TLS.modern, Coder.self, Browser.self, Bonjour.self)
        var anchors: CFArray?
        let status = SecTrustCopyAnchorCertificates(&anchors)
        let certificates = (anchors as? [SecCertificate]) ?? []
        print("anchors", status == errSecSuccess, certificates.count)
        var trust: SecTrust?
        if let first = certificates.first {
            SecTrustCreateWithCertificates(first, SecPolicyCreateBasicX509(), &trust)
        }
        print("trust", trust != nil)
    }
}

/// The object that the callback gets a pointer to.
final class Follower {
    private let name: String
    private let onQueue: SCNetworkReachability
    private let inLoop: SCNetworkReachability
    private let queue = DispatchQueue(label: "reachability")

    init(_ name: String) {
        self.name = name
        guard let one = SCNetworkReachabilityCreateWithName(kCFAllocatorDefault, name),
            let other = SCNetworkReachabilityCreateWithName(nil, name)
        else { exit(1) }
        (onQueue, inLoop) = (one, other)
    }

    func run() {
        var flags = SCNetworkReachabilityFlags()
        SCNetworkReachabilityGetFlags(onQueue, &flags)
        report("now", flags)
        var context = SCNetworkReachabilityContext(
            version: 0, info: nil, retain: nil, release: nil, copyDescription: nil)
        context.info = UnsafeMutableRawPointer(Unmanaged.passUnretained(self).toOpaque())
        let callback: SCNetworkReachabilityCallBack = { target, flags, info in
            guard let info else { return }
            Unmanaged<Follower>.fromOpaque(info).takeUnretainedValue().changed(target, flags)
        }
        guard SCNetworkReachabilitySetCallback(onQueue, callback, &context),
            SCNetworkReachabilitySetDispatchQueue(onQueue, queue),
            SCNetworkReachabilitySetCallback(inLoop, callback, &context),
            SCNetworkReachabilityScheduleWithRunLoop(inLoop, CFRunLoopGetMain(), CFRunLoopMode.commonModes.rawValue)
        else { exit(1) }
        report("following", flags)
        RunLoop.main.run()
    }

    private func changed(_ target: SCNetworkReachability, _ flags: SCNetworkReachabilityFlags) {
        if target === onQueue {
            dispatchPrecondition(condition: .onQueue(queue))
            report("queue", flags)
        } else {
            report(Thread.isMainThread ? "loop" : "another thread", flags)
        }
    }

    private func report(_ word: String, _ flags: SCNetworkReachabilityFlags) {
        let line = "\(word) \(name) \(flags.contains(.reachable) ? "reachable" : "unreachable")\n"
        FileHandle.standardOutput.write(Data(line.utf8))
    }
}
