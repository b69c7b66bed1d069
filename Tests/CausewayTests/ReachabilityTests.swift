import Causeway
import CausewaySystem
import Foundation
@testable import SystemConfiguration
import Testing

/// Tests reachability queries, as in old programs.
@Suite("Single reachability queries")
struct ReachabilityTests {
    private func flags(_ target: SCNetworkReachability?) throws -> SCNetworkReachabilityFlags {
        let target = try #require(target)
        var flags = SCNetworkReachabilityFlags()
        #expect(SCNetworkReachabilityGetFlags(target, &flags))
        return flags
    }

    @Test("This host is reachable, and is local", arguments: ["127.0.0.1", "::1"])
    func loopback(name: String) throws {
        #expect(
            try flags(SCNetworkReachabilityCreateWithName(kCFAllocatorDefault, name))
                == [.reachable, .isLocalAddress, .isDirect])
    }

    @Test("Addresses in all forms that programs use")
    func addresses() throws {
        var ipv4 = sockaddr_in()
        ipv4.sin_family = sa_family_t(AF_INET)
        ipv4.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let own = withUnsafePointer(to: &ipv4) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                SCNetworkReachabilityCreateWithAddress(nil, $0)
            }
        }
        #expect(try flags(own).contains([.reachable, .isLocalAddress]))
        var ipv6 = sockaddr_in6()
        ipv6.sin6_family = sa_family_t(AF_INET6)
        ipv6.sin6_addr = in6addr_loopback
        let other = withUnsafePointer(to: &ipv6) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                SCNetworkReachabilityCreateWithAddress(nil, $0)
            }
        }
        #expect(try flags(other).contains([.reachable, .isLocalAddress]))
    }

    @Test("The zone of an IPv6 address is its interface")
    func zone() {
        var ipv6 = sockaddr_in6()
        ipv6.sin6_addr = in6addr_loopback
        #expect(SCNetworkReachability.address(ipv6) == IPv6Address.loopback)
        ipv6.sin6_scope_id = if_nametoindex("lo")
        let interface = SCNetworkReachability.address(ipv6)?.interface
        #expect(interface?.name == "lo")
    }

    @Test("An invalid destination has no reachability")
    func nothing() {
        #expect(SCNetworkReachabilityCreateWithName(nil, "") == nil)
        var address = sockaddr()
        address.sa_family = sa_family_t(AF_UNIX)
        #expect(SCNetworkReachabilityCreateWithAddress(nil, &address) == nil)
    }

    @Test("A name of this host is local; a name that cannot exist has no flags")
    func names() throws {
        for name in ["localhost", "LOCALHOST.", "a.localhost"] {
            let own = try flags(SCNetworkReachabilityCreateWithName(nil, name))
            #expect(own == [.reachable, .isLocalAddress, .isDirect])
            #expect(SCNetworkReachabilityCreateWithName(nil, name)?.presumedFlags == own)
        }
        let tooLong = String(repeating: "a", count: 64) + ".test"
        #expect(try flags(SCNetworkReachabilityCreateWithName(nil, tooLong)) == [])
    }

    @Test("The context of a callback is released once, after the last call that uses it")
    func context() throws {
        let target = try #require(SCNetworkReachabilityCreateWithName(nil, "127.0.0.1"))
        let events = LockedValue<[String]>([])
        let last = LockedValue<ReachabilityCallback?>(nil)
        var context = SCNetworkReachabilityContext()
        context.info = UnsafeMutableRawPointer(bitPattern: 16)
        context.retain = { info in
            events.withLock { $0.append("retain") }
            return info + 16
        }
        context.release = { info in events.withLock { $0.append("release \(UInt(bitPattern: info))") } }
        let body: SCNetworkReachabilityCallBack = { _, _, info in
            // The program replaces its callback while the callback runs.
            _ = last.withLock { $0.take() }
            events.withLock { $0.append("call \(UInt(bitPattern: info))") }
        }
        last.withLock { $0 = ReachabilityCallback(body, context) }
        last.withLock { $0 }?.call(target, [])
        #expect(events.withLock { $0 } == ["retain", "call 32", "release 32"])
        SCNetworkReachabilitySetCallback(target, body, &context)
        SCNetworkReachabilitySetCallback(target, nil, nil)
        #expect(events.withLock { $0 }.suffix(2) == ["retain", "release 32"])
    }

    @Test("The status of the last call that failed, on each thread, with a text and as an error")
    func status() async {
        let (before, during, other) = await withCheckedContinuation { continuation in
            Thread {
                let before = SCError()
                _ = SCNetworkReachabilityCreateWithName(nil, "")
                let error = SCCopyLastError()
                let texts = [CFErrorGetDomain(error), "\(CFErrorGetCode(error))", CFErrorCopyDescription(error)]
                continuation.resume(returning: (before, texts, SCError()))
            }.start()
        }
        #expect(before == 0 && other == 1_002)
        #expect(during == [kCFErrorDomainSystemConfiguration, "1002", "an argument is not valid"])
        #expect(String(cString: SCErrorString(Int32(kSCStatusReachabilityUnknown))).contains("reachability"))
        #expect(String(cString: SCErrorString(Int32(kSCStatusConnectionIgnore))).contains("no information"))
        #expect(String(cString: SCErrorString(2)) == String(cString: strerror(2)))
        #expect(String(cString: SCErrorString(-1)) == String(cString: SCErrorString(9_999)))
    }

    @Test("The flags have Apple's numbers")
    func numbers() {
        #expect(SCNetworkReachabilityFlags.reachable.rawValue == 2)
        #expect(SCNetworkReachabilityFlags.isLocalAddress.rawValue == 0x1_0000)
        #expect(SCNetworkReachabilityFlags.isWWAN.rawValue == 0x4_0000)
        #expect(kSCNetworkFlagsReachable == 2 && kSCNetworkFlagsConnectionRequired == 4)
        #expect(UInt32(kSCNetworkFlagsIsDirect) == SCNetworkReachabilityFlags.isDirect.rawValue)
    }
}
