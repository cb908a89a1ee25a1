"""Examples of other simulators' parameter files, with every parameter that is known.

Values are those of their published defaults, as far as there are any; the layout is ours.
"""

_MQSIM_DRIVE = {
    "Host_Parameter_Set": """
        PCIe_Lane_Bandwidth=1.0 PCIe_Lane_Count=4 SATA_Processing_Delay=400000
        Enable_ResponseTime_Logging=true ResponseTime_Logging_Period_Length=1000000""",
    "Device_Parameter_Set": """
        Seed=321 Enabled_Preconditioning=true Memory_Type=FLASH HostInterface_Type=NVME
        IO_Queue_Depth=65535 Queue_Fetch_Size=512 Caching_Mechanism=ADVANCED
        Data_Cache_Sharing_Mode=SHARED Data_Cache_Capacity=268435456 Data_Cache_DRAM_Row_Size=8192
        Data_Cache_DRAM_Data_Rate=800 Data_Cache_DRAM_Data_Busrt_Size=4 Data_Cache_DRAM_tRCD=13
        Data_Cache_DRAM_tCL=13 Data_Cache_DRAM_tRP=13 Address_Mapping=PAGE_LEVEL
        Ideal_Mapping_Table=false CMT_Capacity=2097152 CMT_Sharing_Mode=SHARED
        Plane_Allocation_Scheme=CWDP Transaction_Scheduling_Policy=OUT_OF_ORDER
        Overprovisioning_Ratio=0.07 GC_Exec_Threshold=0.05 GC_Block_Selection_Policy=RGA
        Use_Copyback_for_GC=false Preemptible_GC_Enabled=true GC_Hard_Threshold=0.005
        Dynamic_Wearleveling_Enabled=true Static_Wearleveling_Enabled=true
        Static_Wearleveling_Threshold=100 Preferred_suspend_erase_time_for_read=700000
        Preferred_suspend_erase_time_for_write=700000 Preferred_suspend_write_time_for_read=100000
        Flash_Channel_Count=8 Flash_Channel_Width=1 Channel_Transfer_Rate=333 Chip_No_Per_Channel=4
        Flash_Comm_Protocol=NVDDR2""",
    "Flash_Parameter_Set": """
        Flash_Technology=MLC CMD_Suspension_Support=ERASE Page_Read_Latency_LSB=75000
        Page_Read_Latency_CSB=75000 Page_Read_Latency_MSB=75000 Page_Program_Latency_LSB=750000
        Page_Program_Latency_CSB=750000 Page_Program_Latency_MSB=750000 Block_Erase_Latency=3800000
        Block_PE_Cycles_Limit=10000 Suspend_Erase_Time=700000 Suspend_Program_Time=100000
        Die_No_Per_Chip=2 Plane_No_Per_Die=2 Block_No_Per_Plane=2048 Page_No_Per_Block=256
        Page_Capacity=8192 Page_Metadat_Capacity=448""",
}

_COMMON = """Priority_Class=HIGH Device_Level_Data_Caching_Mode=WRITE_CACHE Channel_IDs=0,1,2,3
    Chip_IDs=0,1,2,3 Die_IDs=0,1 Plane_IDs=0,1 Initial_Occupancy_Percentage=70"""

_SYNTHETIC = """Working_Set_Percentage=85 Synthetic_Generator_Type=QUEUE_DEPTH Read_Percentage=40
    Address_Distribution=RANDOM_HOTCOLD Percentage_of_Hot_Region=20
    Generated_Aligned_Addresses=true Address_Alignment_Unit=16 Request_Size_Distribution=FIXED
    Average_Request_Size=8 Variance_Request_Size=0 Seed=798 Average_No_of_Reqs_in_Queue=16
    Bandwidth=262144 Intensity=32768 Stop_Time=0 Total_Requests_To_Generate=20000"""

_TRACE = """File_Path=traces/tpcc-small.trace Percentage_To_Be_Executed=100 Relay_Count=1
    Time_Unit=NANOSECOND"""


def _tags(words: str) -> str:
    pairs = (word.split("=", 1) for word in words.split())
    return "\n".join(f"<{name}>{value}</{name}>" for name, value in pairs)


def _mqsim_drive() -> str:
    host, device, flash = map(_tags, _MQSIM_DRIVE.values())
    return (
        '<?xml version="1.0" encoding="us-ascii"?>\n<Execution_Parameter_Set>\n'
        f"<Host_Parameter_Set>\n{host}\n</Host_Parameter_Set>\n"
        f"<Device_Parameter_Set>\n{device}\n"
        f"<Flash_Parameter_Set>\n{flash}\n</Flash_Parameter_Set>\n"
        "</Device_Parameter_Set>\n</Execution_Parameter_Set>\n"
    )


def _mqsim_workload() -> str:
    def flow(kind: str, words: str) -> str:
        name = f"IO_Flow_Parameter_Set_{kind}"
        return f"<{name}>\n{_tags(_COMMON)}\n{_tags(words)}\n</{name}>\n"

    return (
        '<?xml version="1.0" encoding="us-ascii"?>\n<MQSim_IO_Scenarios>\n<IO_Scenario>\n'
        f"{flow('Synthetic', _SYNTHETIC)}</IO_Scenario>\n<IO_Scenario>\n"
        f"{flow('Trace_Based', _TRACE)}</IO_Scenario>\n</MQSim_IO_Scenarios>\n"
    )


_SSDSIM = """#parameter file
dram capacity = 131072;     #the unit is B
chip number[0] = 2;
chip number[1] = 2;
chip number[2] = 0;
channel number = 2;   #the number of channel
chip number = 4;
die number = 2;
plane number = 2;
block number = 512;
page number = 64;
subpage page = 4;
page capacity = 2048;
subpage capacity = 512;
t_PROG = 200000;             #the unit is ns
t_DBSY = 500;
t_BERS = 1500000;
t_CLS = 12;
t_CLH = 5;
t_CS = 20;
t_CH = 5;
t_WP = 12;
t_ALS = 12;
t_ALH = 5;
t_DS = 12;
t_DH = 5;
t_WC = 25;
t_WH = 10;
t_ADL = 70;
t_R = 20000;
t_AR = 10;
t_CLR = 10;
t_RR = 20;
t_RP = 12;
t_WB = 100;
t_RC = 25;
t_REA = 20;
t_CEA = 25;
t_RHZ = 100;
t_CHZ = 30;
t_RHOH = 15;
t_RLOH = 5;
t_COH = 15;
t_REH = 10;
t_IR = 0;
t_RHW = 100;
t_WHR = 60;
t_RST = 5000;
erase limit=100000;
flash operating current=25000.0;
flash supply voltage=3.3;
dram active current=125000;
dram standby current=50000;
dram refresh current=5000;
dram voltage=3.3;
address mapping=1;
wear leveling=1;
gc=1;
overprovide=0.10;
gc threshold=0.10;
buffer management=0;
scheduling algorithm=1;
gc hard threshold=0.05;
allocation=1;
static_allocation=4;
dynamic_allocation=0;
advanced command=31;
advanced command priority=0;
greed CB command=0;
greed MPW command=1;
aged=1;
aged ratio=0.7;
"""

EXAMPLES = {
    "ssdconfig.xml": _mqsim_drive(),
    "workload.xml": _mqsim_workload(),
    "page.parameters": _SSDSIM,
}
