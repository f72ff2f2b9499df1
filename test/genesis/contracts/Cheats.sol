// SPDX-License-Identifier: UNLICENSED
pragma solidity 0.8.37;

/// What forge's machine offers to tests, as far as these need it. forge's own library is not in the npm registry.
interface Cheats {
    function addr(uint256 key) external returns (address);
    function sign(uint256 key, bytes32 digest) external returns (uint8 v, bytes32 r, bytes32 s);
    function deal(address who, uint256 balance) external;
    function prank(address sender) external;
    function warp(uint256 unixSeconds) external;
    function expectRevert(bytes calldata data) external;
    function expectPartialRevert(bytes4 selector) external;
    function expectEmit(bool first, bool second, bool third, bool data, address emitter) external;
}

Cheats constant cheats = Cheats(address(uint160(uint256(keccak256("hevm cheat code")))));

abstract contract Assertions {
    error Different(string what, uint256 found, uint256 expected);
    error Untrue(string what);

    function equal(uint256 found, uint256 expected, string memory what) internal pure {
        if (found != expected) revert Different(what, found, expected);
    }

    function truth(bool holds, string memory what) internal pure {
        if (!holds) revert Untrue(what);
    }

    /// A number out of low to high, for whatever number the fuzzer gave.
    function within(uint256 any, uint256 low, uint256 high) internal pure returns (uint256) {
        return low + any % (high - low + 1);
    }
}
