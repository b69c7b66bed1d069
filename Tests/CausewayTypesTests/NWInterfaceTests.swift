import CausewayTypes
import Foundation
import Testing

@Suite("NWInterface")
struct NWInterfaceTests {
    @Test("Finds the loopback interface by name and by index")
    func findsLoopback() throws {
        let byName = try #require(NWInterface(name: "lo"))
        #expect(byName.name == "lo")
        #expect(byName.type == .loopback)
        #expect("\(byName)" == "lo")
        #expect(NWInterface(index: byName.index) == byName)
    }

    @Test(
        "Names without an interface",
        arguments: [
            "", " ", "nonesuch", "lo ", "lo\0", "\0", ".", "..", "/", "../lo", "a-name-longer-than-fifteen", "%",
        ])
    func unknownNames(name: String) {
        #expect(NWInterface(name: name) == nil)
    }

    @Test("Indices without an interface", arguments: [0, -1, .min, .max, 1 << 32, (1 << 32) + 1, 0x7fff_fffe])
    func unknownIndices(index: Int) {
        #expect(NWInterface(index: index) == nil)
    }

    @Test("Equality is by value")
    func equality() {
        let base = NWInterface(name: "eth0", index: 2, type: .wiredEthernet)
        #expect(base == NWInterface(name: "eth0", index: 2, type: .wiredEthernet))
        #expect(base.hashValue == NWInterface(name: "eth0", index: 2, type: .wiredEthernet).hashValue)
        #expect(base != NWInterface(name: "eth1", index: 2, type: .wiredEthernet))
        #expect(base != NWInterface(name: "eth0", index: 3, type: .wiredEthernet))
        #expect(base != NWInterface(name: "eth0", index: 2, type: .wifi))
    }

    struct Row: CustomTestStringConvertible {
        var testDescription: String
        /// The files in the network interface's directory. A name that ends in `/` is a directory.
        var files: [String: String]
        var type: NWInterface.InterfaceType

        init(_ description: String, _ files: [String: String], _ type: NWInterface.InterfaceType) {
            testDescription = description
            self.files = files
            self.type = type
        }
    }

    @Test(
        "Classifies by the kernel's files",
        arguments: [
            Row("loopback", ["type": "772\n", "uevent": "INTERFACE=x\nIFINDEX=1\n"], .loopback),
            Row("wired", ["type": "1\n", "uevent": "INTERFACE=x\nIFINDEX=2\n"], .wiredEthernet),
            Row("no uevent", ["type": "1\n"], .wiredEthernet),
            Row("vlan", ["type": "1\n", "uevent": "DEVTYPE=vlan\nINTERFACE=x\n"], .wiredEthernet),
            Row("macvlan", ["type": "1\n", "uevent": "INTERFACE=x\nDEVTYPE=macvlan"], .wiredEthernet),
            Row("wlan", ["type": "1\n", "uevent": "DEVTYPE=wlan\nINTERFACE=x\n"], .wifi),
            Row("wireless extensions", ["type": "1\n", "uevent": "INTERFACE=x\n", "wireless/": ""], .wifi),
            Row("cfg80211", ["type": "1\n", "uevent": "INTERFACE=x\n", "phy80211/": ""], .wifi),
            Row("monitor mode", ["type": "803\n", "uevent": "INTERFACE=x\n"], .wifi),
            Row("wwan, raw IP", ["type": "519\n", "uevent": "DEVTYPE=wwan\n"], .cellular),
            Row("wwan, Ethernet", ["type": "1\n", "uevent": "INTERFACE=x\nDEVTYPE=wwan\n"], .cellular),
            Row("bridge", ["type": "1\n", "uevent": "DEVTYPE=bridge\n"], .other),
            Row("bond", ["type": "1\n", "uevent": "DEVTYPE=bond\n"], .other),
            Row("vxlan", ["type": "1\n", "uevent": "DEVTYPE=vxlan\n"], .other),
            Row("wireguard", ["type": "65534\n", "uevent": "DEVTYPE=wireguard\n"], .other),
            Row("tun", ["type": "65534\n", "uevent": "", "tun_flags": "0x1001\n"], .other),
            Row("tap", ["type": "1\n", "uevent": "INTERFACE=x\n", "tun_flags": "0x1002\n"], .other),
            Row("ppp", ["type": "512\n", "uevent": "DEVTYPE=ppp\n"], .other),
            Row("key with only an equal ending", ["type": "1\n", "uevent": "XDEVTYPE=wlan\n"], .wiredEthernet),
            Row(
                "overlong device type", ["type": "1\n", "uevent": "DEVTYPE=\(String(repeating: "w", count: 900))\n"],
                .other),
            Row("nonsense", ["type": "ethernet\n", "uevent": "\n\n="], .other),
            Row("nothing", [:], .other),
        ])
    func classifies(row: Row) throws {
        #expect(try type(of: "test0", row.files) == row.type)
    }

    private func type(of name: String, _ files: [String: String], driver: String? = nil) throws
        -> NWInterface.InterfaceType
    {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        let folder = directory.appendingPathComponent(name)
        defer { try? FileManager.default.removeItem(at: directory) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (file, content) in files {
            let path = folder.appendingPathComponent(file)
            if file.hasSuffix("/") {
                try FileManager.default.createDirectory(at: path, withIntermediateDirectories: false)
            } else {
                try Data(content.utf8).write(to: path)
            }
        }
        if let driver {
            let device = folder.appendingPathComponent("device")
            try FileManager.default.createDirectory(at: device, withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(
                atPath: device.appendingPathComponent("driver").path, withDestinationPath: "../../drivers/\(driver)")
        }
        return NWInterface.InterfaceType(ofInterface: name, in: directory.path)
    }

    @Test("A modem is recognized by its driver if the kernel reports Ethernet")
    func drivers() throws {
        let ethernet = ["type": "1\n", "uevent": "INTERFACE=x\n"]
        #expect(try type(of: "usb0", ethernet, driver: "cdc_mbim") == .cellular)
        #expect(try type(of: "usb0", ethernet, driver: "e1000e") == .wiredEthernet)
    }

    @Test("The name counts only if nothing else decides")
    func names() throws {
        let ethernet = ["type": "1\n", "uevent": "INTERFACE=x\n"]
        for (name, type) in [
            ("wlan0", NWInterface.InterfaceType.wifi), ("wlp3s0", .wifi), ("wifi1", .wifi), ("wwan0", .cellular),
            ("wan0", .wiredEthernet), ("eth0", .wiredEthernet),
        ] {
            #expect(try self.type(of: name, ethernet) == type, "\(name)")
        }
        #expect(try type(of: "wlan0", ["type": "1\n", "uevent": "DEVTYPE=vlan\n"]) == .wiredEthernet)
        #expect(try type(of: "wlan0", ["type": "1\n", "uevent": "DEVTYPE=bridge\n"]) == .other)
        #expect(try type(of: "wlan0", ["type": "1\n", "uevent": "DEVTYPE=wwan\n"]) == .cellular)
        #expect(try type(of: "wifi0", ["type": "1\n", "tun_flags": "0x1002\n"]) == .other)
    }

    @Test("Without the kernel's folder, the link type still identifies loopback")
    func classifiesWithoutFolder() {
        #expect(NWInterface.InterfaceType(ofInterface: "lo", in: "/nonexistent") == .loopback)
    }

    @Test("A name cannot lead out of the folder", arguments: ["", "..", ".", "../lo", "/", "lo/../lo"])
    func staysInFolder(name: String) {
        #expect(NWInterface.InterfaceType(ofInterface: name) == .other)
    }
}
