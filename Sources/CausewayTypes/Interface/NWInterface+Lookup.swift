internal import CCausewayLinux

extension NWInterface {
    /// Looks up an interface of this host by name. Makes a few system calls.
    ///
    /// - Returns: `nil` if there is currently no interface with that name.
    package init?(name: String) {
        // Reject a name that contains a zero byte. A C string ends at a zero byte, so the shortened name could match
        // another interface.
        guard !name.isEmpty, name.utf8.count < Int(CAUSEWAY_INTERFACE_NAME_SIZE), !name.utf8.contains(0) else {
            return nil
        }
        // `name` may be an alternative interface name, but the new object must have the main name. So look up the
        // interface by index.
        self.init(index: Int(unsafe causeway_interface_index(name)))
    }

    /// Looks up an interface of this host by index. Makes a few system calls.
    ///
    /// - Returns: `nil` if there is currently no interface with that index.
    package init?(index: Int) {
        guard let kernelIndex = UInt32(exactly: index), kernelIndex != 0 else { return nil }
        let characters = unsafe withUnsafeTemporaryAllocation(
            of: CChar.self, capacity: Int(CAUSEWAY_INTERFACE_NAME_SIZE)
        ) { buffer -> String? in
            guard let start = buffer.baseAddress, unsafe causeway_interface_name(kernelIndex, start) == 0 else {
                return nil
            }
            return unsafe String(cString: start)
        }
        guard let name = characters else { return nil }
        let said = InterfaceOverrides.current[name].type
        self.init(name: name, index: index, type: said ?? InterfaceType(ofInterface: name))
    }
}

extension NWInterface.InterfaceType {
    /// Determines an interface's type from sysfs.
    ///
    /// - Parameter directory: The directory with a subdirectory for each interface.
    package init(ofInterface name: String, in directory: String = "/sys/class/net") {
        self =
            switch unsafe causeway_interface_type(directory, name) {
            case CAUSEWAY_INTERFACE_WIFI: .wifi
            case CAUSEWAY_INTERFACE_CELLULAR: .cellular
            case CAUSEWAY_INTERFACE_WIRED: .wiredEthernet
            case CAUSEWAY_INTERFACE_LOOPBACK: .loopback
            default: .other
            }
    }
}
